package text

// The relay: its settings, its commands and their output.
const (
	RelaySettingName    Key = "relay.setting.name"
	RelaySettingPort    Key = "relay.setting.port"
	RelaySettingTLS     Key = "relay.setting.tls"
	RelayTLS            Key = "relay.tls"
	RelaySettingNATS    Key = "relay.setting.nats"
	RelayRevoke         Key = "relay.revoke"
	RelayNATSKeys       Key = "relay.nats.keys"
	RelaySettingDays    Key = "relay.setting.days"
	RelayForgotten      Key = "relay.forgotten"
	RelayForgetNumber   Key = "relay.forget.number"
	RelaySettingHost    Key = "relay.setting.host"
	RelaySettingAdmin   Key = "relay.setting.admin"
	RelaySettingReached Key = "relay.setting.reached"
	RelaySettingCluster Key = "relay.setting.cluster"
	RelaySettingUnknown Key = "relay.setting.unknown" // the key
	RelaySettingTOML    Key = "relay.setting.toml"
	RelayFile           Key = "relay.file" // path, what is wrong
	RelayFileDamaged    Key = "relay.file.damaged"

	RelayNotMade           Key = "relay.not_made"
	RelayMade              Key = "relay.made"
	RelayRuns              Key = "relay.runs"
	RelayNotRunning        Key = "relay.not_running"
	RelayNoAdmin           Key = "relay.no_admin"
	RelayOther             Key = "relay.other"
	RelayEnded             Key = "relay.ended"
	RelaySite              Key = "relay.site"
	RelayInit              Key = "relay.init"
	RelayLine              Key = "relay.line"
	RelayUserName          Key = "relay.user.name"
	RelayUserMany          Key = "relay.user.many"
	RelayUserLong          Key = "relay.user.long"
	RelayCSV               Key = "relay.csv"
	RelayTwice             Key = "relay.twice"
	RelayTaken             Key = "relay.taken"
	RelayTooLarge          Key = "relay.too_large"
	RelayCode              Key = "relay.code"
	RelayNoUser            Key = "relay.no_user"
	RelayRemoved           Key = "relay.removed"
	RelayComputers         Key = "relay.computers"
	RelayUsers             Key = "relay.users"
	RelayStatus            Key = "relay.status"
	RelayClusterMade       Key = "relay.cluster.made"   // file
	RelayClusterJoined     Key = "relay.cluster.joined" // folder
	RelayReports           Key = "relay.reports"
	RelayDoctorWrong       Key = "relay.doctor.wrong"
	RelayDoctorFolder      Key = "relay.doctor.folder"
	RelayDoctorRuns        Key = "relay.doctor.runs"
	RelayDoctorCertificate Key = "relay.doctor.certificate"
	RelayDoctorRenew       Key = "relay.doctor.renew" // a certificate that the relay does not renew
	RelayDoctorNobody      Key = "relay.doctor.nobody"
	RelayDoctorUsers       Key = "relay.doctor.users"
	RelayDoctorDropped     Key = "relay.doctor.dropped"
	RelayRegisterToken     Key = "relay.register.token"
	RelayRegisterNone      Key = "relay.register.none"
	RelayRegistered        Key = "relay.registered"
	RelayUnregistered      Key = "relay.unregistered"
	RelayDoctorLate        Key = "relay.doctor.late"
	RelayDoctorMissed      Key = "relay.doctor.missed"
	RelayDoctorReports     Key = "relay.doctor.reports"
	RelayServiceWindows    Key = "relay.service.windows"
	RelayServiceMade       Key = "relay.service.made"
	RelayServiceRemoved    Key = "relay.service.removed"
	RelayExchange          Key = "relay.exchange" // name, kind, state
	RelayExchangeNever     Key = "relay.exchange.never"
	RelayExchangeKind      Key = "relay.exchange.kind" // the existing kinds
	RelayExchangeOne       Key = "relay.exchange.one"
	RelayExchangeSecret    Key = "relay.exchange.secret"
	RelayExchangeSet       Key = "relay.exchange.set"
	RelayExchangeNone      Key = "relay.exchange.none"
	RelayMappingLine       Key = "relay.mapping.line"
	RelayMappingField      Key = "relay.mapping.field"
	RelayMappingLacks      Key = "relay.mapping.lacks"
	RelayMappingWord       Key = "relay.mapping.word"
	RelayTryWrong          Key = "relay.try.wrong"
	RelayTryNothing        Key = "relay.try.nothing"
	RelayExchangeRemoved   Key = "relay.exchange.removed"
	RelayStrange           Key = "relay.strange"
	RelayWrong             Key = "relay.wrong"
	RelayHubSet            Key = "relay.hub.set"
	RelayHubSecret         Key = "relay.hub.secret"
	RelayHubOff            Key = "relay.hub.off"
	RelayHubUntried        Key = "relay.hub.untried"
	RelayHubOK             Key = "relay.hub.ok"
	RelayJoinAddress       Key = "relay.join.address"
	RelayJoinCode          Key = "relay.join.code"
	RelayJoinWait          Key = "relay.join.wait"
	RelayJoinFault         Key = "relay.join.fault"
	RelayJoinOther         Key = "relay.join.other"
	RelayJoinNobody        Key = "relay.join.nobody"
	RelayJoinFingerprint   Key = "relay.join.fingerprint"
	RelayJoinName          Key = "relay.join.name"
	RelayJoinExpired       Key = "relay.join.expired"
	RelayJoinUnknown       Key = "relay.join.unknown"
	RelayJoinDone          Key = "relay.join.done"
)

// RelayFault says what prevents a relay from working: "start", "quorum",
// "disk" or "storage".
func RelayFault(what string) Key { return Key("relay.lacks." + what) }

// RelayExchangeState describes the state of the relay's link to an exchange, since when,
// and when it last reported a call.
func RelayExchangeState(state string) Key { return Key("relay.exchange.state." + state) }
