package provider_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/sqsafe/sqsafe/internal/demo/provider"
)

func Example() {
	p := provider.New()
	for range 2 {
		body := strings.NewReader(`{"id":"ch-1","customer":"c-1","amount":1250,"currency":"EUR"}`)
		request := httptest.NewRequest(http.MethodPost, "/charges", body)
		request.Header.Set("Idempotency-Key", "ch-1")
		response := httptest.NewRecorder()
		p.ServeHTTP(response, request)
		fmt.Println(response.Code)
	}
	fmt.Println(len(p.Charges()), "charge")
	// Output:
	// 201
	// 200
	// 1 charge
}
