package text

// Commands of administration: provision, settings, secret, forget, register.
const (
	AdminNothing       Key = "admin.nothing"       // provision without anything to set
	AdminSetupAlone    Key = "admin.setup_alone"   // flags that do not go with a set-up file
	AdminTestNumber    Key = "admin.test_number"   // --test-number without a test
	AdminPassphrase    Key = "admin.passphrase"    // --passphrase-stdin without --import
	AdminJoinCode      Key = "admin.join_code"     // --join-code without --export
	AdminNoTerminal    Key = "admin.no_terminal"   // for the passphrase
	AdminLinkAlone     Key = "admin.link_alone"    // flags that do not go with --softphone
	AdminNoLink        Key = "admin.no_link"       // no link of that name
	AdminGroupAlone    Key = "admin.group_alone"   // --secret-group without machine
	AdminNeedsAddress  Key = "admin.needs_address" // a secret without address or client
	AdminPolicyKeeps   Key = "admin.policy_keeps"  // keys that the policy sets
	AdminSet           Key = "admin.set"           // settings, and a secret if one was given
	AdminSetWaiting    Key = "admin.set.waiting"   // a new secret waits beside the old one
	AdminSetNoSecret   Key = "admin.set.no_secret" // address and client have none
	AdminSetLink       Key = "admin.set.link"      // a link's secret
	AdminSetMachine    Key = "admin.set.machine"   // the computer's secret
	AdminTestGood      Key = "admin.test.good"     // nothing was to be set
	AdminIncomplete    Key = "admin.incomplete"    // a key without which there is no hub
	AdminPhrase        Key = "admin.phrase"        // stands above the passphrase
	AdminLeft          Key = "admin.left"          // settings that do not travel
	AdminList          Key = "admin.list"          // the settings file
	AdminLocked        Key = "admin.locked"        // a key and where the policy stands
	AdminKeySet        Key = "admin.key_set"       // key, value, source
	AdminNoKey         Key = "admin.no_key"
	AdminPolicyWrong   Key = "admin.policy.wrong"   // how many mistakes
	AdminPolicyHub     Key = "admin.policy.hub"     // the policy decides all about the hub
	AdminPolicyGood    Key = "admin.policy.good"    // how many keys
	AdminSourceProgram Key = "admin.source.program" // sources of calls
	AdminSourceAddress Key = "admin.source.address"
	AdminSourceLink    Key = "admin.source.link"
	AdminSourceSocket  Key = "admin.source.socket"
	AdminSecretWhich   Key = "admin.secret.which" // arguments that do not go together
	AdminSecretNone    Key = "admin.secret.none"
	AdminSecretRemoved Key = "admin.secret.removed"
	AdminForgotten     Key = "admin.forgotten"
	AdminForgetDays    Key = "admin.forget.days"    // a wrong age
	AdminForgetNumber  Key = "admin.forget.number"  // no number
	AdminForgetProfile Key = "admin.forget.profile" // --user or --everything with --profile
	AdminForgetRuns    Key = "admin.forget.runs"    // this user's Wiebelt runs
	AdminOnly          Key = "admin.only"           // takes an administrator
	AdminNoUser        Key = "admin.no_user"
	AdminNoHome        Key = "admin.no_home"
	AdminLeftOf        Key = "admin.left_of"        // what could not be deleted, why
	AdminDeleted       Key = "admin.deleted"        // what was deleted
	AdminNothingOf     Key = "admin.nothing_of"     // a user without files
	AdminVault         Key = "admin.vault"          // the user's own vault, and how
	AdminRegistry      Key = "admin.registry"       // the user's registry, on Windows
	AdminMadeAnew      Key = "admin.made_anew"      // that user's Wiebelt runs
	AdminNotSetupFile  Key = "admin.not_setup_file" // the suffix

	RegisterDone    Key = "register.done"
	RegisterOther   Key = "register.other"   // another registration comes first
	RegisterNothing Key = "register.nothing" // links are opened by nothing
	RegisterOurs    Key = "register.ours"
	RegisterTheirs  Key = "register.theirs" // by another program
	RegisterStarts  Key = "register.starts"
	RegisterNoStart Key = "register.no_start"
	RegisterAlone   Key = "register.alone" // --repair with --all-users
	RegisterAgain   Key = "register.again" // what was registered again
	RegisterWhole   Key = "register.whole" // nothing was lost
	RegisterGone    Key = "register.gone"  // unregistered
	RegisterGoneAll Key = "register.gone.all"
)
