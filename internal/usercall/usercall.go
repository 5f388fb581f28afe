// Package usercall calls user code. A panic or runtime.Goexit in the call is reported as
// a value, and a call that does not return can be abandoned.
package usercall

import "runtime/debug"

// Panic describes a call that ended by a panic or by runtime.Goexit.
type Panic struct {
	// Value is the argument of panic, a *runtime.PanicNilError for nil; nil after
	// runtime.Goexit.
	Value any
	// Goexit reports whether the call ended by runtime.Goexit.
	Goexit bool
	// Stack is the goroutine's stack at the panic.
	Stack string
}

// Catch calls f on the caller's goroutine and passes its error or panic to report. report
// is called exactly once. After runtime.Goexit it is called too, but Catch does not
// return, since the goroutine ends.
func Catch(f func() error, report func(err error, p *Panic)) {
	returned := false
	var err error
	defer func() {
		if returned {
			report(err, nil)
			return
		}
		value := recover()
		report(nil, &Panic{Value: value, Goexit: value == nil, Stack: string(debug.Stack())})
	}()
	err = f()
	returned = true
}

// Call calls f on a new goroutine and waits for it until left is closed. Then it abandons
// the goroutine and back is false; a later panic in it does not end the process. A nil
// left waits without limit.
func Call(left <-chan struct{}, f func() error) (p *Panic, back bool, err error) {
	type end struct {
		err error
		p   *Panic
	}
	ended := make(chan end, 1)
	go Catch(f, func(err error, p *Panic) { ended <- end{err, p} })
	select {
	case e := <-ended:
		return e.p, true, e.err
	case <-left:
	}
	select {
	case e := <-ended: // at the same time
		return e.p, true, e.err
	default:
		return nil, false, nil
	}
}
