// Package usercall calls code that is not ours, so that a panic in it, or its end
// by runtime.Goexit, is an error, and so that it can be left behind.
package usercall

import "runtime/debug"

// Panic is how a call ended that did not return.
type Panic struct {
	// Value is what was passed to panic, a *runtime.PanicNilError for nil; nil after
	// runtime.Goexit.
	Value any
	// Goexit reports whether the call ended by runtime.Goexit.
	Goexit bool
	// Stack is the goroutine's stack at the panic.
	Stack string
}

// Catch calls f on the caller's goroutine and passes what became of it to report:
// the error of f, or its panic. Report is called exactly once, after runtime.Goexit
// too; Catch does not return then, since the goroutine ends.
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

// Call calls f on a goroutine of its own and waits for it, but no longer than
// until left is closed: then the goroutine is left behind, and back is false. How it
// ends does not matter then; a panic in it does not end the process. A nil left
// waits without limit.
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
