package conformance_test

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
)

var cwDashboardChecks = []check[*cwEnv]{
	{
		id:  "cw/dashboards/put-get-list",
		doc: "GetDashboard returns the body that PutDashboard stored, and ListDashboards lists it.",
		run: func(t T, e *cwEnv) {
			name := unique("dash")
			body := `{"widgets":[{"type":"metric","x":0,"y":0,"width":12,"height":6,"properties":{"metrics":` +
				`[["AWS/SQS","ApproximateNumberOfMessagesVisible","QueueName","orders"]],"region":"` + *region +
				`","title":"depth","stat":"Sum","period":60}}]}`
			_, err := e.c.PutDashboard(t.Context(), &cloudwatch.PutDashboardInput{DashboardName: &name, DashboardBody: &body})
			must(t, "PutDashboard", err)
			t.Cleanup(func() {
				ctx, cancel := cleanupContext()
				defer cancel()
				_, _ = e.c.DeleteDashboards(ctx, &cloudwatch.DeleteDashboardsInput{DashboardNames: []string{name}})
			})
			got, err := e.c.GetDashboard(t.Context(), &cloudwatch.GetDashboardInput{DashboardName: &name})
			must(t, "GetDashboard", err)
			equal(t, "body", aws.ToString(got.DashboardBody), body)
			list, err := e.c.ListDashboards(t.Context(), &cloudwatch.ListDashboardsInput{DashboardNamePrefix: &name})
			must(t, "ListDashboards", err)
			equal(t, "listed", len(list.DashboardEntries), 1)
		},
	},
	{
		id:  "cw/dashboards/not-json-rejected",
		doc: "PutDashboard fails with DashboardInvalidInputError when the body is not valid.",
		run: func(t T, e *cwEnv) {
			_, err := e.c.PutDashboard(
				t.Context(),
				&cloudwatch.PutDashboardInput{DashboardName: aws.String(unique("dash")), DashboardBody: aws.String("{nope")},
			)
			wantError[*types.DashboardInvalidInputError](t, err)
		},
	},
	{
		id:  "cw/dashboards/missing",
		doc: "GetDashboard of a dashboard that does not exist fails with DashboardNotFoundError.",
		run: func(t T, e *cwEnv) {
			_, err := e.c.GetDashboard(t.Context(), &cloudwatch.GetDashboardInput{DashboardName: aws.String(unique("none"))})
			wantError[*types.DashboardNotFoundError](t, err)
		},
	},
}
