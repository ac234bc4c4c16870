package lane

//go:generate go run ./vmathgen
