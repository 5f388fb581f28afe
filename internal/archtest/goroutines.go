package archtest

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
)

// Goroutines is the list of the files that may start goroutines, test files
// excepted, each with the reason. A file stands here when it has a go statement or
// names Go or AfterFunc of something else: sync.WaitGroup, time, context, a clock.
func Goroutines() map[string]string {
	all := engineGoroutines()
	maps.Copy(all, toolGoroutines())
	return all
}

// engineGoroutines are those of functions, workers and the tests of both.
func engineGoroutines() map[string]string {
	return map[string]string{
		"sqsafe.go": "the first connection is opened while the function waits for its first event",

		"handler/handle.go":    "the timer that ends a crashed process, and a logger that may hang",
		"handler/pool.go":      "workers, which decode, claim, run and settle, and are in the event loop in turn",
		"handler/claim.go":     "the wait for a claim that is lost",
		"handler/alone.go":     "the end of a lone run that lasts long",
		"handler/goroutine.go": "what user code starts with Go, watched for panics",
		"handler/run.go":       "what user code starts with Go outside of a run",
		"handler/letters.go":   "letters are sent while other jobs run, and confirmed side by side",
		"handler/hide.go":      "messages are hidden while other jobs run, where there is no deadline",
		"handler/hooks.go":     "a hook is called while other jobs run",

		"internal/usercall/usercall.go": "user code that may be left behind",

		"internal/bubble/watch.go":       "the timer that looks whether virtual time stands still",
		"handler/handlertest/overdue.go": "a test is told of a handler that does not return",

		"idem/renew.go": "a lease is renewed while its job runs",
		"idem/steps.go": "the timer that ends the record of a step after its job was cancelled",

		"idem/idemtest/bench.go":               "deliveries that race for one claim",
		"internal/simulation/fleethost.go":     "a goroutine of user code that outlives its job",
		"internal/simulation/fleetschedule.go": "processes of the fleet run side by side",
		"internal/simulation/schedule.go":      "workers of the model run side by side",
		"idem/idemtest/step.go":                "steps that race for one name",

		"internal/mutants/main.go": "faults are tried side by side, each in a copy of its own",
		"tracing/tracer.go":        "a flush of spans that may hang",

		"dlq/sender.go":  "batches of letters are sent side by side",
		"queue/packs.go": "batches of calls to SQS run side by side",

		"worker/loop.go":    "the timer that ends a receive after the shutdown began",
		"worker/publish.go": "metrics are sent while jobs run",
		"worker/run.go":     "one loop for each batch that may be in flight",
		"worker/slots.go":   "the timer after which a long batch gives slots back",
		"worker/probes.go":  "the server that answers probes",
		"worker/start.go":   "signals",
		"worker/worker.go":  "visibility timeouts are extended while jobs run",
	}
}

// toolGoroutines are those of emulators, commands and programs of tests.
func toolGoroutines() map[string]string {
	return map[string]string{
		"internal/eventsource/poller.go": "one loop for each concurrent invocation",
		"awstest/clock.go":               "a timer that is due at once",

		"internal/localaws/fault.go":       "the timer of an injected delay",
		"internal/localaws/sqs/move.go":    "the timer of the next step of a message move",
		"internal/localaws/sqs/receive.go": "the timer of a long poll",
		"internal/localaws/sqs/waiters.go": "the timer of the next message that becomes visible",

		"internal/localaws/protocol/clock.go": "the machine's clock has timers",

		"internal/runtimeapi/function.go": "invocations, and the wait for them at the end",
		"internal/runtimeapi/pool.go":     "the wait for a process to exit",
		"internal/runtimeapi/process.go":  "a process's runtime API, and its life on one thread",

		"internal/local/build.go":     "functions are built side by side",
		"internal/local/connect.go":   "the server of the emulators",
		"internal/local/functions.go": "one poller for each event source mapping",
		"internal/local/reorder.go":   "the timer that emits events that have waited",
		"internal/local/stack.go":     "jobs are sent while the stack starts, functions end side by side",

		"internal/deadletters/hold.go": "batches of visibility changes and deletions run side by side",
		"internal/deadletters/read.go": "a queue is read by several receives at a time",

		"internal/localguard/listen.go": "the shutdown of the server when its context ends",
		"internal/dlqui/pages.go":       "depths of queues are asked for side by side",
		"internal/dlqui/run.go":         "what changes a queue goes on while pages are shown",

		"internal/cli/dlqui.go":        "depths are noted while the page is served",
		"internal/cli/ledgerforget.go": "an answer on the terminal that may never come",
		"internal/cli/local.go":        "the wait for idle queues",
		"internal/cli/localpage.go":    "the page of dead letters is served while the stack runs",
		"internal/cli/queues.go":       "queues are described side by side",
		"internal/cli/signal.go":       "signals",
		"internal/demo/demo.go":        "the server of the payment provider",

		"internal/bench/services.go":    "the server of the emulators",
		"internal/bench/byhand/main.go": "messages of a batch run side by side, as people write it",

		"internal/chaos/campaign.go": "servers, and what the plan says: jobs, strikes, outages and progress side by side",
		"internal/chaos/job/main.go": "the wait for the end of the campaign",
		"internal/chaos/strikes.go":  "a signal that follows another after a time",
		"internal/chaos/workers.go":  "one supervisor for each worker, and the wait for its end",

		"internal/crashproof/function/ends.go": "user code that ends its process from a goroutine",
	}
}

// CheckGoroutines reports the files that start goroutines and are not in the list,
// and what in the list starts none.
func CheckGoroutines(list map[string]string, files []File) []string {
	var problems []string
	found := map[string]bool{}
	for _, f := range files {
		if f.IsTest() {
			continue
		}
		for _, n := range starts(f) {
			found[f.Name] = true
			if _, listed := list[f.Name]; !listed {
				problems = append(problems, fmt.Sprintf(
					"%s: this may start a goroutine: let a file of the list in internal/archtest/goroutines.go do it, "+
						"or add this one with the reason", f.At(n)))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		switch {
		case !found[name]:
			problems = append(problems, name+" starts no goroutine: remove it from internal/archtest/goroutines.go")
		case list[name] == "":
			problems = append(problems, name+" may start goroutines, but internal/archtest/goroutines.go does not say why")
		}
	}
	return problems
}

// starts returns what in a file may start a goroutine. It goes by names: a method
// Go or AfterFunc of any type counts, called or passed on.
func starts(f File) []ast.Node {
	var found []ast.Node
	ast.Inspect(f.AST, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = append(found, n)
		case *ast.SelectorExpr:
			if n.Sel.Name == "Go" || n.Sel.Name == "AfterFunc" {
				found = append(found, n)
			}
		}
		return true
	})
	return found
}
