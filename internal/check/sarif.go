package check

import (
	"encoding/json"
	"net/url"
	"path/filepath"
)

// The members of a SARIF 2.1.0 log that a checker of templates needs. Their
// names are those of the standard:
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		Results    []sarifResult `json:"results"`
		ColumnKind string        `json:"columnKind"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID                   string             `json:"id"`
		ShortDescription     sarifText          `json:"shortDescription"`
		FullDescription      sarifText          `json:"fullDescription"`
		Help                 sarifText          `json:"help"`
		HelpURI              string             `json:"helpUri"`
		DefaultConfiguration sarifConfiguration `json:"defaultConfiguration"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifConfiguration struct {
		Level Level `json:"level"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        Level              `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Suppressions []sarifSuppression `json:"suppressions"`
	}
	sarifLocation struct {
		PhysicalLocation sarifPhysical  `json:"physicalLocation"`
		LogicalLocations []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		ArtifactLocation sarifArtifact `json:"artifactLocation"`
		Region           sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
	}
	sarifLogical struct {
		Name string `json:"name"`
		Kind string `json:"kind"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
)

// SARIF returns findings as a log in the format SARIF 2.1.0, which code hosts
// and editors read. Ignored findings are suppressed results.
func SARIF(findings []Finding) ([]byte, error) {
	run := sarifRun{
		Tool: sarifTool{Driver: sarifDriver{
			Name: "sqsafe", InformationURI: "https://github.com/sqsafe/sqsafe/blob/main/docs/check.md",
		}},
		Results:    []sarifResult{},
		ColumnKind: "unicodeCodePoints",
	}
	index := map[string]int{}
	for i, rule := range Rules() {
		index[rule.ID] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
			ID: rule.ID, ShortDescription: sarifText{rule.Title}, FullDescription: sarifText{rule.Why},
			Help: sarifText{rule.Write}, HelpURI: rule.Source,
			DefaultConfiguration: sarifConfiguration{rule.Level()},
		})
	}
	for _, f := range findings {
		run.Results = append(run.Results, f.sarif(index[f.Rule]))
	}
	return json.MarshalIndent(sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run},
	}, "", "  ")
}

func (f *Finding) sarif(rule int) sarifResult {
	location := sarifLocation{PhysicalLocation: sarifPhysical{
		ArtifactLocation: sarifArtifact{fileURI(f.File)}, Region: sarifRegion{f.Line, f.Column},
	}}
	if f.Resource != "" {
		location.LogicalLocations = []sarifLogical{{f.Resource, "resource"}}
	}
	result := sarifResult{
		RuleID: f.Rule, RuleIndex: rule, Level: f.Level,
		Message:      sarifText{f.Message + ". " + f.Why + "\nWrite:\n" + f.Write},
		Locations:    []sarifLocation{location},
		Suppressions: []sarifSuppression{},
	}
	if f.Ignored != "" {
		result.Suppressions = append(result.Suppressions, sarifSuppression{"inSource", f.Ignored})
	}
	return result
}

// fileURI is a path as a URI; a relative path stays relative.
func fileURI(path string) string {
	u := url.URL{Path: filepath.ToSlash(path)}
	if filepath.IsAbs(path) {
		u.Scheme = "file"
	}
	return u.String()
}
