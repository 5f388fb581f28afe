package dynamodb

import "time"

// defaultRecoveryDays is how long a table can be restored to a point in time, if
// the request does not say it.
const defaultRecoveryDays = 35

// recovery is the setting of point-in-time recovery. It is described and has no other
// effect: the emulator keeps no backups, and refuses the operations that restore one by
// name.
type recovery struct {
	since time.Time
	days  int
}

type backupParameters struct {
	TableName string `rule:"required,table"`
}

type updateBackupParameters struct {
	TableName                        string                 `rule:"required,table"`
	PointInTimeRecoverySpecification *recoverySpecification `rule:"required,is=PointInTimeRecoverySpecification"`
}

type recoverySpecification struct {
	PointInTimeRecoveryEnabled *bool `rule:"required"`
	RecoveryPeriodInDays       *int  `rule:"range=1..35"`
}

type backupResponse struct{ ContinuousBackupsDescription backupDescription }

type backupDescription struct {
	ContinuousBackupsStatus        string
	PointInTimeRecoveryDescription recoveryDescription
}

type recoveryDescription struct {
	PointInTimeRecoveryStatus  string
	RecoveryPeriodInDays       int     `json:",omitempty"`
	EarliestRestorableDateTime float64 `json:",omitempty"`
	LatestRestorableDateTime   float64 `json:",omitempty"`
}

func (s *Service) describeContinuousBackups(p *backupParameters) (backupResponse, error) {
	t, err := s.table(p.TableName)
	if err != nil {
		return backupResponse{}, tableMissing(p.TableName)
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.backups(s.clock.Now()), nil
}

func (s *Service) updateContinuousBackups(p *updateBackupParameters) (backupResponse, error) {
	t, err := s.table(p.TableName)
	if err != nil {
		return backupResponse{}, tableMissing(p.TableName)
	}
	spec, now := p.PointInTimeRecoverySpecification, s.clock.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	switch days := defaultRecoveryDays; {
	case !*spec.PointInTimeRecoveryEnabled:
		t.recovery = nil
	default:
		if spec.RecoveryPeriodInDays != nil {
			days = *spec.RecoveryPeriodInDays
		}
		since := now
		if t.recovery != nil {
			since = t.recovery.since
		}
		t.recovery = &recovery{since, days}
	}
	return t.backups(now), nil
}

// backups describes the setting. The caller holds the mutex.
func (t *table) backups(now time.Time) backupResponse {
	d := recoveryDescription{PointInTimeRecoveryStatus: "DISABLED"}
	if t.recovery != nil {
		d = recoveryDescription{"ENABLED", t.recovery.days, seconds(t.recovery.since), seconds(now)}
	}
	return backupResponse{backupDescription{"ENABLED", d}}
}

type insightsParameters struct {
	TableName string  `rule:"required,table"`
	IndexName *string `rule:"name,len=3..255"`
}

type insightsResponse struct {
	TableName                 string
	IndexName                 *string `json:",omitempty"`
	ContributorInsightsStatus string
}

// describeContributorInsights says that they are off: they cannot be turned on.
func (s *Service) describeContributorInsights(p *insightsParameters) (insightsResponse, error) {
	f, err := s.source(p.TableName, p.IndexName)
	if err != nil {
		return insightsResponse{}, err
	}
	return insightsResponse{f.table.name, p.IndexName, "DISABLED"}, nil
}
