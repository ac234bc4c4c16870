package hostcall

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Buffer is a shared buffer of any layout.
type Buffer interface {
	// Service answers what is ready and returns the number of packets. An
	// error is final.
	Service(*Server) (served int, err error)
}

// Listener services one buffer from a goroutine of its own.
type Listener struct {
	buffer Buffer
	server *Server

	mu     sync.Mutex // held while the buffer is serviced
	err    error
	closed bool

	serving atomic.Uint64 // the goroutine that services now, see Goroutine

	kick    chan struct{}
	stop    chan struct{}
	stopped chan struct{}
	once    sync.Once
}

// Listen starts a goroutine that services b every interval, and whenever it is
// kicked. It ends at Close or at a structural failure, which it passes to
// server.Failed.
func Listen(b Buffer, server *Server, interval time.Duration) *Listener {
	l := &Listener{
		buffer:  b,
		server:  server,
		kick:    make(chan struct{}, 1),
		stop:    make(chan struct{}),
		stopped: make(chan struct{}),
	}
	go l.run(interval)
	return l
}

func (l *Listener) run(interval time.Duration) {
	defer close(l.stopped)
	self := Goroutine()
	tick := time.NewTicker(max(interval, time.Microsecond))
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-l.kick:
		case <-tick.C:
		}
		if l.serveBurst(self) != nil {
			return
		}
	}
}

// linger is how long a listener keeps looking after it has served something:
// waves that print or call a function tend to do it again at once, and to wake
// up takes much longer than to look.
const linger = 200 * time.Microsecond

// serveBurst services until nothing has come for a while.
func (l *Listener) serveBurst(self uint64) error {
	var last time.Time
	for !l.stopping() {
		served, err := l.service(self)
		switch {
		case err != nil:
			return err
		case served > 0:
			last = time.Now()
		case last.IsZero() || time.Since(last) > linger:
			return nil
		default:
			runtime.Gosched()
		}
	}
	return nil
}

func (l *Listener) stopping() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}

// service answers what is ready, on goroutine self.
func (l *Listener) service(self uint64) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.serving.Store(self)
	defer l.serving.Store(0)
	if l.err != nil || l.closed {
		return 0, l.err
	}
	served, err := l.buffer.Service(l.server)
	if err != nil {
		l.err = err
		if l.server.Failed != nil {
			l.server.Failed(err)
		}
	}
	return served, err
}

// Serving reports whether the caller was called, however indirectly, by this
// listener: from a Function, or a writer. It would then wait for itself.
func (l *Listener) Serving() bool {
	g := l.serving.Load()
	return g != 0 && g == Goroutine()
}

// Kick makes the listener look at the buffer now. It does not wait, and is
// cheap enough for every doorbell.
func (l *Listener) Kick() {
	select {
	case l.kick <- struct{}{}:
	default:
	}
}

// Drain services what is ready before it returns: call it before reporting
// that a queue has failed, so that the device's last words come first.
func (l *Listener) Drain() error {
	_, err := l.service(Goroutine())
	return err
}

// Err returns the structural failure that ended service, or nil.
func (l *Listener) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Close stops the listener, services once more what is ready, and returns the
// structural failure, if any. It may be called again. The buffer's memory may
// be freed afterwards.
func (l *Listener) Close() error {
	l.once.Do(func() {
		close(l.stop)
		<-l.stopped
		l.service(Goroutine())
		l.mu.Lock()
		l.closed = true // the memory may go away: Drain must not touch it
		l.mu.Unlock()
	})
	return l.Err()
}
