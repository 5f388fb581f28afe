package cloudwatch

import (
	"encoding/base64"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"
)

const (
	maxPage      = 500           // metrics of a page, as AWS sets it
	recentlyUsed = 3 * time.Hour // what PT3H means
)

type dimensionFilter struct {
	Name  string
	Value string // empty: any
}

type listMetricsInput struct {
	Namespace             string
	MetricName            string
	Dimensions            []dimensionFilter
	RecentlyActive        string
	IncludeLinkedAccounts bool
	OwningAccount         string
	NextToken             string
}

type listMetricsOutput struct {
	Metrics   []metricID
	NextToken string `json:",omitempty"`
}

// listMetrics lists the metrics that got data within two weeks.
func (s *Service) listMetrics(in listMetricsInput) (*listMetricsOutput, error) {
	since := s.clock.Now().Add(-oldest)
	switch in.RecentlyActive {
	case "":
	case "PT3H":
		since = s.clock.Now().Add(-recentlyUsed)
	default:
		return nil, invalid("The value %s for parameter RecentlyActive is invalid: it can be PT3H.", in.RecentlyActive)
	}
	err := unimplemented("ListMetrics", map[string]bool{
		"IncludeLinkedAccounts": in.IncludeLinkedAccounts, "OwningAccount": in.OwningAccount != "",
	})
	if err != nil {
		return nil, err
	}
	var keys []string
	for key, m := range s.metrics {
		if n := len(m.samples); n > 0 && m.samples[n-1].at >= since.Unix() && in.fits(m.id) {
			keys = append(keys, key)
		}
	}
	keys, token, err := page(keys, in.NextToken, maxPage)
	if err != nil {
		return nil, err
	}
	out := &listMetricsOutput{Metrics: []metricID{}, NextToken: token}
	for _, key := range keys {
		out.Metrics = append(out.Metrics, s.metrics[key].id)
	}
	return out, nil
}

func (in listMetricsInput) fits(id metricID) bool {
	if (in.Namespace != "" && in.Namespace != id.Namespace) || (in.MetricName != "" && in.MetricName != id.MetricName) {
		return false
	}
	for _, f := range in.Dimensions {
		if !slices.ContainsFunc(id.Dimensions, func(d dimension) bool {
			return d.Name == f.Name && (f.Value == "" || f.Value == d.Value)
		}) {
			return false
		}
	}
	return true
}

// page gives a part of the keys, in order, and the token of the next part.
func page(keys []string, token string, size int) (part []string, next string, err error) {
	sort.Strings(keys)
	after, err := base64.URLEncoding.DecodeString(token)
	if err != nil {
		return nil, "", refusal("InvalidNextToken", "InvalidNextToken", "The next token specified is invalid.")
	}
	keys = keys[sort.Search(len(keys), func(i int) bool { return token == "" || keys[i] > string(after) }):]
	if len(keys) > size {
		keys = keys[:size]
		next = base64.URLEncoding.EncodeToString([]byte(keys[size-1]))
	}
	return keys, next, nil
}

// withPrefix gives the names of a map that begin with a prefix.
func withPrefix[V any](all map[string]V, prefix string) []string {
	return slices.DeleteFunc(slices.Collect(maps.Keys(all)), func(name string) bool {
		return !strings.HasPrefix(name, prefix)
	})
}
