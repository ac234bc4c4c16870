package cases

import "testing"

func TestAssertionWithoutLocation(t *testing.T) {
	for _, c := range []struct{ got, want, compared string }{
		{"src/a.hip:3: assertion `x' failed.\n", "assertion `x' failed.", "assertion `x' failed."},
		{"/b/c.hip:12: assertion `x' failed.\n", "assertion `x' failed.\n", "assertion `x' failed.\n"},
		{"a.hip:3: one\nb.hip:4: two\n", "one\ntwo\n", "one\ntwo\n"},
		// An expectation with a location asks for that location.
		{"src/a.hip:3: x\n", "src/b.hip:3: x\n", "src/a.hip:3: x\n"},
		{"no location\n", "other\n", "no location\n"},
	} {
		if got := string(withoutLocation([]byte(c.got), []byte(c.want))); got != c.compared {
			t.Errorf("%q against %q: compared %q, want %q", c.got, c.want, got, c.compared)
		}
	}
}
