package stackedit

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sqsafe/sqsafe/internal/alarmset"
)

// alias is the one that functions get for a rollback.
const alias = "live"

// addAlarms adds the alarms of all units, and what they need in the functions.
func (a *addition) addAlarms() {
	for i := range a.units {
		u := &a.units[i]
		if u.Function == "" {
			a.result.Notes = append(a.result.Notes, fmt.Sprintf("the alarms of the worker of %s expect its metrics under "+
				"the name of the queue: leave SQSAFE_WORKER_NAME unset", u.Source))
		}
		if a.request.Rollback && u.Function != "" {
			a.rollback(u)
		}
		for _, alarm := range alarmset.Alarms(*u, nil, a.request.sets()...) {
			a.put("Resources", alarm.Name, alarm.YAML(a.topics))
		}
		if u.Function != "" && a.request.Alarms != "" {
			a.countEvents(*u)
		}
	}
}

// rollback makes a function roll back by its alarms.
func (a *addition) rollback(u *alarmset.Unit) {
	key, r := member(value(a.root, "Resources"), u.Function)
	properties, _ := member(r, "Properties")
	inProperties := func(what, text string) {
		a.parts = append(a.parts, part{
			where: "in the Properties of " + u.Function, text: text,
			at: func() (insertion, error) { return a.inBlock(properties, value(r, "Properties"), text) },
		})
		a.result.Added = append(a.result.Added, u.Function+"."+what)
	}
	if value(r, "UpdateReplacePolicy") == nil {
		text := "  UpdateReplacePolicy: Retain\n"
		a.parts = append(a.parts, part{where: "in " + u.Function, text: text, at: func() (insertion, error) {
			if r.Style&yaml.FlowStyle != 0 {
				return a.inBlock(key, r, text) // says why not
			}
			return insertion{at: a.lines[properties.Line-1], text: indented(text, properties.Column-1)}, nil
		}})
		a.result.Added = append(a.result.Added, u.Function+".UpdateReplacePolicy")
		a.result.Notes = append(a.result.Notes, u.Function+": if cfn-lint asks for a DeletionPolicy besides (W3011), "+
			"leave it out: it would replace the one that SAM gives to versions, which keeps them")
	}
	if u.Alias == "" {
		u.Alias = alias
		inProperties("AutoPublishAlias", "  AutoPublishAlias: "+alias+"\n")
	}
	if a.property(r, "AutoPublishAliasAllProperties") == nil {
		inProperties("AutoPublishAliasAllProperties", "  AutoPublishAliasAllProperties: true\n")
	}
	refs := []string{"!Ref " + alarmset.Named(*u, "NewVersionErrors"), "!Ref " + alarmset.Named(*u, "NewVersionFlood")}
	own := value(r, "Properties", "DeploymentPreference")
	if own == nil {
		kind := "    Type: !Ref DeploymentType\n"
		if value(a.root, "Globals", "Function", "DeploymentPreference", "Type") != nil {
			kind = ""
		}
		inProperties("DeploymentPreference", "  DeploymentPreference:\n"+kind+"    Alarms: ["+strings.Join(refs, ", ")+"]\n")
		return
	}
	a.joinAlarms(*u, own, refs)
}

// joinAlarms adds alarms to a DeploymentPreference that is there.
func (a *addition) joinAlarms(u alarmset.Unit, own *yaml.Node, refs []string) {
	key, n := member(own, "Alarms")
	var missing []string
	for _, ref := range refs {
		if n == nil || !slices.ContainsFunc(n.Content, func(item *yaml.Node) bool {
			id, _ := reference(item)
			return "!Ref "+id == ref
		}) {
			missing = append(missing, ref)
		}
	}
	if len(missing) == 0 {
		return
	}
	a.result.Added = append(a.result.Added, u.Function+".DeploymentPreference.Alarms")
	text := "Alarms: [" + strings.Join(missing, ", ") + "]\n"
	a.parts = append(a.parts, part{
		where: "in the DeploymentPreference of " + u.Function, text: "  " + text,
		at: func() (insertion, error) {
			switch {
			case n == nil:
				_, properties := member(value(a.root, "Resources", u.Function), "Properties")
				preference, _ := member(properties, "DeploymentPreference")
				return a.inBlock(preference, own, "  "+text)
			case n.Kind != yaml.SequenceNode || len(n.Content) == 0:
				return insertion{}, fmt.Errorf("%s:%d: the Alarms of %s are no list: write one", a.file, key.Line, u.Function)
			case n.Style&yaml.FlowStyle != 0:
				return insertion{at: a.offset(n) + 1, text: strings.Join(missing, ", ") + ", "}, nil
			}
			dash := strings.Repeat(" ", n.Column-1) + "- "
			return insertion{at: a.lines[n.Line-1], text: dash + strings.Join(missing, "\n"+dash) + "\n"}, nil
		},
	})
}

// countEvents adds the metrics that PartialFailures needs to the event.
func (a *addition) countEvents(u alarmset.Unit) {
	r := value(a.root, "Resources", u.Function)
	name, _ := a.event(r)
	event := value(r, "Properties", "Events", name)
	key, properties := member(event, "Properties")
	if key == nil || value(properties, "MetricsConfig") != nil {
		return
	}
	text := "  MetricsConfig: {Metrics: [EventCount]}\n"
	a.result.Added = append(a.result.Added, u.Function+"."+name+".MetricsConfig")
	a.parts = append(a.parts, part{
		where: "in the Properties of the event " + name + " of " + u.Function, text: text,
		at: func() (insertion, error) { return a.inBlock(key, properties, text) },
	})
}

// addDashboard adds the dashboard, with the alarms that there are then.
func (a *addition) addDashboard() {
	if !a.request.Dashboard || a.has("Resources", "Dashboard") {
		return
	}
	a.put("Resources", "Dashboard", alarmset.Dashboard(a.units, func(name string) bool {
		return a.has("Resources", name) || slices.Contains(a.result.Added, name)
	}))
	a.put("Outputs", "DashboardUrl", `  DashboardUrl: {Description: "The dashboard, dead letters first.", Value: !Sub
    "https://console.aws.amazon.com/cloudwatch/home?region=${AWS::Region}#dashboards/dashboard/${Dashboard}"}
`)
}

// named finds what a text refers to.
var named = regexp.MustCompile(`!Ref (\w+)|\$\{(\w+)\}`)

// addParameters adds the parameters that the additions refer to.
func (a *addition) addParameters() {
	var used []string
	texts := []string{a.sections["Resources"], a.sections["Conditions"], a.sections["Rules"]}
	for _, p := range a.parts {
		texts = append(texts, p.text)
	}
	for _, found := range named.FindAllStringSubmatch(strings.Join(texts, "\n"), -1) {
		used = append(used, found[1]+found[2])
	}
	for _, p := range alarmset.Parameters() {
		if slices.Contains(used, p.Name) && !a.has("Resources", p.Name) {
			a.put("Parameters", p.Name, p.YAML())
		}
	}
}

// finish edits the text.
func (a *addition) finish() error {
	if len(a.result.Added) == 0 {
		a.result.Text = a.text
		return nil
	}
	if err := a.editable(); err != nil {
		return err
	}
	var edits []insertion
	for _, p := range a.parts {
		e, err := p.at()
		if err != nil {
			return err
		}
		edits = append(edits, e)
	}
	for _, name := range order {
		if a.sections[name] == "" {
			continue
		}
		e, err := a.section(name, a.sections[name])
		if err != nil {
			return err
		}
		edits = append(edits, e)
	}
	edited := a.apply(edits)
	if err := a.verify(edited); err != nil {
		return err
	}
	a.result.Text = edited
	return nil
}

// print writes the additions for people who put them in themselves.
func (a *addition) print() {
	var out strings.Builder
	for _, name := range order {
		if text := a.sections[name]; text != "" {
			out.WriteString(name + ":\n" + text)
		}
	}
	for _, p := range a.parts {
		out.WriteString("# " + p.where + ":\n" + p.text)
	}
	a.result.Printed = out.String()
}
