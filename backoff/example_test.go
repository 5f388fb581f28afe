package backoff_test

import (
	"fmt"
	"time"

	"github.com/sqsafe/sqsafe/backoff"
)

func half() float64 { return 0.5 }

func Example() {
	profile := backoff.Exponential{Base: 2 * time.Second, MaxAttempts: 5}
	if err := profile.Validate(); err != nil {
		fmt.Println(err)
		return
	}
	for failure := 1; failure < profile.Attempts(); failure++ {
		exact := profile.Delay(failure, half)
		whole := backoff.WholeSeconds(exact, half)
		fmt.Println(exact, backoff.Clamp(whole, 3*time.Second))
	}
	// Output:
	// 2.2s 2s
	// 4.4s 4s
	// 8.8s 9s
	// 17.6s 18s
}

func ExampleSpread() {
	fmt.Println(backoff.Spread(30*time.Second, 0.20, half))
	// Output: 33s
}

func ExampleClamp() {
	fmt.Println(backoff.Clamp(24*time.Hour, 10*time.Minute))
	// Output: 11h49m55s
}

func ExampleExponential_Validate() {
	fmt.Println(backoff.Exponential{Jitter: 1.5}.Validate())
	// Output: backoff: Jitter is 1.5: it is a share above 0 and at most 1; set 0.1 to 0.2, or up to 1 for an even spread
}
