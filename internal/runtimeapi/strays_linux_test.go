package runtimeapi_test

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/sqsafe/sqsafe/internal/runtimeapi"
)

// daemonize answers one event after it has started a process in a session of its own, by
// a second process that ends: so nothing but its environment says where it comes from.
func daemonize() {
	if os.Getenv("DAEMON") == "" {
		id, _ := takeEvent()
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "DAEMON=1")
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := c.Run(); err != nil {
			fmt.Println(err)
		}
		hold(os.Getenv("GATE"))
		call("POST", invocationPath+id+"/response", `"done"`)
		if os.Getenv("EXITS") != "" {
			os.Exit(3)
		}
		hang()
	}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), programVariable+"=lingers")
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		fmt.Println(err)
	}
}

func TestProcessesThatLeaveTheGroupEndWithTheirs(t *testing.T) {
	t.Parallel()
	for name, ending := range map[string]struct {
		exits string
		end   func(*harness)
	}{
		"closed": {"", func(h *harness) { _ = h.Close(t.Context()) }},
		"exits":  {"1", func(h *harness) { <-h.exits }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listener, gate := listen(t), listen(t)
			h := start(t, "daemonizes", func(o *runtimeapi.Options) {
				o.Environment["ADDRESS"], o.Environment["EXITS"] = listener.Addr().String(), ending.exits
				o.Environment["GATE"] = gate.Addr().String()
			})
			invoked := make(chan error, 1)
			go func() {
				_, err := h.Invoke(t.Context(), []byte("{}"))
				invoked <- err
			}()
			stray := accept(t, listener)
			_ = accept(t, gate).Close()
			if err := <-invoked; err != nil {
				t.Fatal(err)
			}
			ending.end(h)
			awaitEnd(t, stray)
		})
	}
}
