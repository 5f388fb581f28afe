package cloudwatch

import (
	"encoding/json"
	"net/http"
	"regexp"
	"time"

	"github.com/sqsafe/sqsafe/internal/localaws/protocol"
)

type dashboard struct {
	name, body string
	modified   time.Time
}

// arn is without a region: dashboards are global.
func (s *Service) dashboardARN(name string) string {
	return "arn:aws:cloudwatch::" + s.account + ":dashboard/" + name
}

var dashboardNames = regexp.MustCompile(`^[A-Za-z0-9_-]{1,255}$`)

type putDashboardInput struct {
	DashboardName string
	DashboardBody string
	Tags          []any
}

type putDashboardOutput struct{ DashboardValidationMessages []validationMessage }

type validationMessage struct{ DataPath, Message string }

func (s *Service) putDashboard(in putDashboardInput) (*putDashboardOutput, error) {
	if err := unimplemented("PutDashboard", map[string]bool{"Tags": len(in.Tags) > 0}); err != nil {
		return nil, err
	}
	if !dashboardNames.MatchString(in.DashboardName) {
		return nil, invalidDashboard("/", "The value of DashboardName has characters other than A-Z, a-z, 0-9, "+
			"hyphens and underscores, or is not 1 to 255 of them long")
	}
	var body struct{ Widgets []map[string]json.RawMessage }
	if err := json.Unmarshal([]byte(in.DashboardBody), &body); err != nil {
		return nil, invalidDashboard("/", "The field DashboardBody must be a valid JSON object: "+err.Error())
	}
	if body.Widgets == nil {
		return nil, invalidDashboard("/", "The dashboard body must have the list widgets")
	}
	for _, widget := range body.Widgets {
		for _, name := range []string{"type", "properties"} {
			if widget[name] == nil {
				return nil, invalidDashboard("/widgets", "A widget must have the field "+name)
			}
		}
	}
	s.dashboards[in.DashboardName] = &dashboard{in.DashboardName, in.DashboardBody, s.clock.Now()}
	return &putDashboardOutput{[]validationMessage{}}, nil
}

func invalidDashboard(path, message string) error {
	e := refusal("DashboardInvalidInputError", "InvalidParameterInput", "The dashboard body is invalid: %s", message)
	e.Status = http.StatusBadRequest
	e.Fields = map[string]any{"dashboardValidationMessages": []validationMessage{{path, message}}}
	return e
}

func noDashboard(name string) error {
	return notFound("DashboardNotFoundError", "Dashboard %s does not exist", name)
}

type getDashboardInput struct{ DashboardName string }

type getDashboardOutput struct {
	ARN  string `json:"DashboardArn"`
	Body string `json:"DashboardBody"`
	Name string `json:"DashboardName"`
}

func (s *Service) getDashboard(in getDashboardInput) (*getDashboardOutput, error) {
	d := s.dashboards[in.DashboardName]
	if d == nil {
		return nil, noDashboard(in.DashboardName)
	}
	return &getDashboardOutput{s.dashboardARN(d.name), d.body, d.name}, nil
}

type listDashboardsInput struct{ DashboardNamePrefix, NextToken string }

type listDashboardsOutput struct {
	DashboardEntries []dashboardEntry
	NextToken        string `json:",omitempty"`
}

type dashboardEntry struct {
	ARN          string             `json:"DashboardArn"`
	Name         string             `json:"DashboardName"`
	LastModified protocol.Timestamp `json:"LastModified"`
	Size         int64              `json:"Size"`
}

func (s *Service) listDashboards(in listDashboardsInput) (*listDashboardsOutput, error) {
	names, token, err := page(withPrefix(s.dashboards, in.DashboardNamePrefix), in.NextToken, maxPage)
	out := &listDashboardsOutput{DashboardEntries: []dashboardEntry{}, NextToken: token}
	for _, name := range names {
		d := s.dashboards[name]
		out.DashboardEntries = append(out.DashboardEntries, dashboardEntry{
			s.dashboardARN(name), name, protocol.Timestamp{Time: d.modified}, int64(len(d.body)),
		})
	}
	return out, err
}

type deleteDashboardsInput struct{ DashboardNames []string }

// deleteDashboards deletes all of the dashboards, or none.
func (s *Service) deleteDashboards(in deleteDashboardsInput) (empty, error) {
	if len(in.DashboardNames) == 0 {
		return empty{}, missing("DashboardNames")
	}
	for _, name := range in.DashboardNames {
		if s.dashboards[name] == nil {
			return empty{}, noDashboard(name)
		}
	}
	for _, name := range in.DashboardNames {
		delete(s.dashboards, name)
	}
	return empty{}, nil
}
