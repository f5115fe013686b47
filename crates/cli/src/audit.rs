//! Where decisions and runs are recorded.

use crate::args::Global;
use crate::exit::Failure;
use crate::{policy, text};
use skillgate_exec::{AuditContext, AuditError, AuditEvent, AuditSink, BestEffort, NoAudit};
use skillgate_policy::file::Policy;
use skillgate_runtime::FileAudit;
use skillgate_state::Durability;
use std::sync::Arc;

/// The sink that the policy in force and the command line ask for. With `audit.required`, what cannot be recorded is refused,
/// here before anything ran; without, it is said once.
pub(crate) fn sink(global: &Global, policy: &Policy) -> Result<Arc<dyn AuditSink>, Failure> {
    let required = policy.audit_required.value;
    let Some(log) = &policy.audit_log else {
        let none = "`audit.required` is set, and no `audit.log` is named".to_owned();
        return if required { Err(unrecorded(none)) } else { Ok(Arc::new(NoAudit)) };
    };
    let durability = if required { Durability::Disk } else { Durability::Process };
    match FileAudit::open_ambient(policy::expanded(global, &log.value), durability) {
        Ok(sink) => {
            let sink = Arc::new(sink.with_contents(global.audit_contents));
            Ok(if required { sink } else { Arc::new(BestEffort::new(sink, lost)) })
        }
        Err(error) => {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
            let help = error.help().map(|help| format!(" ({help})")).unwrap_or_default();
            let reason = format!("{error}{cause}{help}");
            if required {
                return Err(unrecorded(reason));
            }
            lost(&AuditError { reason });
            Ok(Arc::new(NoAudit))
        }
    }
}

/// Records that folders are trusted from now on, or not any more. Trust is recorded before it is given: where a record is
/// required and cannot be written, it is not given.
pub(crate) fn trust(global: &Global, policy: &Policy, folders: &[String], trusted: bool) -> Result<(), Failure> {
    let sink = sink(global, policy)?;
    for what in folders {
        let event = AuditEvent::Trust { what: what.clone(), trusted, digest: None };
        sink.record(&AuditContext::default(), &event).map_err(|error| Failure::Run(error.into()))?;
    }
    Ok(())
}

fn unrecorded(reason: String) -> Failure {
    Failure::Run(AuditError { reason }.into())
}

fn lost(error: &AuditError) {
    text::complain(&format!("skillgate: {}", text::safe(&error.to_string())));
}
