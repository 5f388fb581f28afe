package backoff_test

import (
	"fmt"
	"time"

	"github.com/sqsafe/sqsafe/backoff"
)

// In production, random is rand.Float64 of math/rand/v2.
func half() float64   { return 0.5 }
func lowest() float64 { return 0 }

// show prints the delays of a job that fails each time.
func show(profile backoff.Profile, random func() float64) {
	for failure := 1; failure < profile.Attempts(); failure++ {
		fmt.Print(profile.Delay(failure, random), " ")
	}
	fmt.Println("dead")
}

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

func ExampleExponential() {
	show(backoff.Exponential{}, lowest)
	show(backoff.Exponential{}, half)
	// Output:
	// 1s 2s 4s 8s 16s 32s 1m4s dead
	// 1.1s 2.2s 4.4s 8.8s 17.6s 35.2s 1m10.4s dead
}

func ExampleExponential_options() {
	show(backoff.Exponential{Base: 5 * time.Second, Cap: time.Minute, Factor: 3, MaxAttempts: 5}, lowest)
	// Output: 5s 15s 45s 1m0s dead
}

// A jitter of 1 spreads retries as evenly as possible, and never retries early.
func ExampleExponential_jitter() {
	profile := backoff.Exponential{Jitter: 1}
	for _, u := range []float64{0, 0.25, 0.5, 0.75} {
		fmt.Print(profile.Delay(4, func() float64 { return u }), " ")
	}
	// Output: 8s 10s 12s 14s
}

func ExampleStepped() {
	show(backoff.Stepped{}, lowest)
	show(backoff.Stepped{}, half)
	// Output:
	// 1m0s 5m0s 15m0s dead
	// 1m3s 5m15s 15m45s dead
}

func ExampleStepped_options() {
	show(backoff.Stepped{
		Steps:       []time.Duration{10 * time.Second, time.Minute},
		Jitter:      0.5,
		MaxAttempts: 5,
	}, half)
	// Output: 12.5s 1m15s 1m15s 1m15s dead
}

func ExampleConstant() {
	show(backoff.Constant{Interval: 30 * time.Second, MaxAttempts: 4}, lowest)
	show(backoff.Constant{Interval: 30 * time.Second, Jitter: 0.1, MaxAttempts: 4}, half)
	// Output:
	// 30s 30s 30s dead
	// 31.5s 31.5s 31.5s dead
}

func ExampleJitterKind() {
	for _, kind := range []backoff.JitterKind{backoff.Additive, backoff.Full, backoff.Equal} {
		profile := backoff.Constant{Interval: time.Minute, JitterKind: kind}
		fmt.Println(kind, profile.Delay(1, lowest), profile.Delay(1, half))
	}
	// Output:
	// additive 1m0s 1m6s
	// full 1s 30.5s
	// equal 30s 45s
}

func ExampleNamed() {
	profile, err := backoff.Named("stepped", 0, 6)
	if err != nil {
		fmt.Println(err)
		return
	}
	show(profile, lowest)

	_, err = backoff.Named("linear", 0, 0)
	fmt.Println(err)
	// Output:
	// 1m0s 5m0s 15m0s 15m0s 15m0s dead
	// backoff: profile is "linear": there is none of this name; set exponential or stepped
}

func ExampleSpread() {
	fmt.Println(backoff.Spread(30*time.Second, 0.20, half))
	// Output: 33s
}

func ExampleWholeSeconds() {
	fmt.Println(backoff.WholeSeconds(1200*time.Millisecond, func() float64 { return 0.1 }))
	fmt.Println(backoff.WholeSeconds(1200*time.Millisecond, func() float64 { return 0.2 }))
	// Output:
	// 2s
	// 1s
}

func ExampleClamp() {
	fmt.Println(backoff.Clamp(24*time.Hour, 10*time.Minute))
	// Output: 11h49m55s
}

func ExampleExponential_Validate() {
	fmt.Println(backoff.Exponential{Jitter: 1.5}.Validate())
	// Output: backoff: Jitter is 1.5: it is a share above 0 and at most 1; set 0.1 to 0.2, or up to 1 for an even spread
}
