package worker

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sqsafe/sqsafe/internal/cfn"
)

const deployFolder = "../functions/charge-worker/deploy"

// manifest is what a manifest says about its worker.
type manifest struct {
	environment map[string]string
	grace       time.Duration // from the signal until the worker is killed
}

func readManifest(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deployFolder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// document reads a manifest in YAML.
func document(t *testing.T, name string) any {
	t.Helper()
	root, _, err := cfn.Load(name, []byte(readManifest(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	var all any
	if err := root.Decode(&all); err != nil {
		t.Fatal(err)
	}
	return all
}

// at returns the value at a path of names and positions, and fails the test if there is none.
func at(t *testing.T, value any, path string) any {
	t.Helper()
	for step := range strings.SplitSeq(path, "/") {
		switch v := value.(type) {
		case map[string]any:
			value = v[step]
		case []any:
			n, err := strconv.Atoi(step)
			if err != nil || n >= len(v) {
				t.Fatalf("%s of %s: a list of %d", step, path, len(v))
			}
			value = v[n]
		}
		if value == nil {
			t.Fatalf("the manifest has no %s of %s", step, path)
		}
	}
	return value
}

// variables returns the environment of a container, without what only AWS can fill in.
func variables(t *testing.T, list any, name, value string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, entry := range list.([]any) {
		text := at(t, entry, value)
		if function, ok := text.(map[string]any); ok && function["Fn::Sub"] != nil {
			text = function["Fn::Sub"]
		}
		all[at(t, entry, name).(string)] = regexp.MustCompile(`\$\{[^}]*}`).ReplaceAllString(fmt.Sprint(text), "x")
	}
	return all
}

func kubernetes(t *testing.T) manifest {
	t.Helper()
	pod := at(t, document(t, "kubernetes.yaml"), "spec/template/spec")
	return manifest{
		variables(t, at(t, pod, "containers/0/env"), "name", "value"),
		seconds(t, at(t, pod, "terminationGracePeriodSeconds")),
	}
}

func ecs(t *testing.T) manifest {
	t.Helper()
	container := at(t, document(t, "ecs.yaml"), "Resources/Task/Properties/ContainerDefinitions/0")
	return manifest{
		variables(t, at(t, container, "Environment"), "Name", "Value"), seconds(t, at(t, container, "StopTimeout")),
	}
}

// systemd reads the unit. What its environment file has to set is in a comment.
func systemd(t *testing.T) manifest {
	t.Helper()
	all := map[string]string{queueVariable: "https://sqs.eu-central-1.amazonaws.com/123456789012/ChargeQueue"}
	for _, line := range unit(t, "Environment") {
		for setting := range strings.FieldsSeq(line) {
			name, value, _ := strings.Cut(setting, "=")
			all[name] = value
		}
	}
	return manifest{all, seconds(t, unit(t, "TimeoutStopSec")[0])}
}

// unit returns the values of a setting of the unit, and fails the test if there are none.
func unit(t *testing.T, name string) (values []string) {
	t.Helper()
	for line := range strings.Lines(readManifest(t, "charge-worker.service")) {
		if value, ok := strings.CutPrefix(line, name+"="); ok {
			values = append(values, strings.TrimSpace(value))
		}
	}
	if len(values) == 0 {
		t.Fatalf("the unit has no %s", name)
	}
	return values
}

func seconds(t *testing.T, value any) time.Duration {
	t.Helper()
	n, err := strconv.Atoi(fmt.Sprint(value))
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(n) * time.Second
}

// A worker that is killed before it has settled its jobs makes them wait for their leases.
func TestManifestsWaitUntilTheWorkerHasEnded(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func(*testing.T) manifest{
		"kubernetes": kubernetes, "ecs": ecs, "systemd": systemd,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := read(t)
			s, err := readSettings(func(name string) (string, bool) { value, ok := m.environment[name]; return value, ok })
			if err != nil {
				t.Fatal(err)
			}
			if s.Drain != defaultDrain {
				t.Errorf("%s is %s, want the default %s", drainVariable, s.Drain, defaultDrain)
			}
			if ends := s.Drain + settleGrace + crashPublish; m.grace <= ends {
				t.Errorf("killed after %s, but the worker may end after %s", m.grace, ends)
			}
			if name == "ecs" && m.grace > 2*time.Minute {
				t.Errorf("a stop timeout of %s, and Fargate allows 120 s at most", m.grace)
			}
		})
	}
}

// The times that the page gives for other drains follow the same rule.
func TestThePageGivesTimeToStop(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/worker.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| (?:Kubernetes|ECS|Docker|systemd) \| .* \| (\d+) \| (\d+) \|$`).
		FindAllStringSubmatch(string(page), -1)
	if len(rows) != 4 {
		t.Fatalf("%d rows, want 4", len(rows))
	}
	for _, row := range rows {
		for i, drain := range []time.Duration{15 * time.Second, 60 * time.Second} {
			if ends := drain + settleGrace + crashPublish; seconds(t, row[i+1]) <= ends {
				t.Errorf("%s\nhas %s s for a worker that may end after %s", row[0], row[i+1], ends)
			}
		}
	}
}

func TestManifestsProbeWhatIsAnswered(t *testing.T) {
	t.Parallel()
	container := at(t, document(t, "kubernetes.yaml"), "spec/template/spec/containers/0")
	port := at(t, container, "ports/0")
	if address := fmt.Sprint(":", at(t, port, "containerPort")); address != defaultHealthAddress {
		t.Errorf("probes at %s, and the worker answers at %s", address, defaultHealthAddress)
	}
	answers := map[string]int{"livenessProbe": http.StatusOK, "readinessProbe": http.StatusServiceUnavailable}
	for probe, answer := range answers {
		get := at(t, container, probe+"/httpGet")
		if at(t, get, "port") != at(t, port, "name") {
			t.Errorf("%s asks the port %v", probe, at(t, get, "port"))
		}
		got := httptest.NewRecorder() // of a worker that has received nothing yet
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, at(t, get, "path").(string), http.NoBody)
		new(Worker).Health().ServeHTTP(got, request)
		if got.Code != answer {
			t.Errorf("%s gets %d, want %d", probe, got.Code, answer)
		}
	}
}

func TestManifestsTellExitCodesApart(t *testing.T) {
	t.Parallel()
	if codes := unit(t, "SuccessExitStatus"); !slices.Equal(codes, []string{strconv.Itoa(exitForced)}) {
		t.Errorf("the unit takes %v for a success besides 0, want %d", codes, exitForced)
	}
	rules := at(t, document(t, "ecs.yaml"), "Resources")
	for rule, want := range map[string]string{
		"Failed": fmt.Sprint([]int{exitFailed, exitCrash, 137}), "CutOff": fmt.Sprint([]int{exitForced}),
	} {
		if codes := at(t, rules, rule+"/Properties/EventPattern/detail/containers/exitCode"); fmt.Sprint(codes) != want {
			t.Errorf("%s is for %v, want %s", rule, codes, want)
		}
	}
}

func TestManifestsLimitTheLog(t *testing.T) {
	t.Parallel()
	resources := at(t, document(t, "ecs.yaml"), "Resources")
	at(t, resources, "Log/Properties/RetentionInDays")
	log := at(t, resources, "Task/Properties/ContainerDefinitions/0/LogConfiguration/Options")
	at(t, log, "max-buffer-size")
	if mode := at(t, log, "mode"); mode != "non-blocking" {
		t.Errorf("mode %v: a worker that waits for its log stands still", mode)
	}
	journal := readManifest(t, "journald@"+unit(t, "LogNamespace")[0]+".conf")
	if !strings.Contains(journal, "\nSystemMaxUse=") {
		t.Error("the journal has no limit")
	}
}

// The page and the role of ECS list the same rights.
func TestTheRoleHasTheRightsOfThePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/worker.md")
	if err != nil {
		t.Fatal(err)
	}
	rights := regexp.MustCompile(`\b(?:sqs|dynamodb|cloudwatch):[A-Z]\w+`)
	unique := func(text string) []string {
		all := rights.FindAllString(text, -1)
		slices.Sort(all)
		return slices.Compact(all)
	}
	if want, got := unique(string(page)), unique(readManifest(t, "ecs.yaml")); len(want) != 7 || !slices.Equal(want, got) {
		t.Errorf("the role has %v, the page %v", got, want)
	}
}

// systemd itself checks the unit, where it is there. The program of the unit is not.
func TestSystemdAcceptsTheUnit(t *testing.T) {
	t.Parallel()
	verify, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd-analyze")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(readManifest(t, "charge-worker.service"), unit(t, "ExecStart")[0], program, 1)
	file := filepath.Join(t.TempDir(), "charge-worker.service")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), verify, "verify", "--man=no", file).CombinedOutput()
	if strings.Contains(string(out), filepath.Base(file)) { // the other units of the machine are not ours
		t.Errorf("%v\n%s", err, out)
	}
}
