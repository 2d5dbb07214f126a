//! `trust …`

mod approve;
mod decide;
pub(super) mod log;
mod show;
mod store;

use sealstone::trust::Status;

use crate::args::TrustCommand;
use crate::context::Context;
use crate::failure::Result;

/// Runs one of them.
pub(crate) fn run(command: TrustCommand, context: &Context) -> Result<()> {
    match command {
        TrustCommand::List => show::list(context),
        TrustCommand::Show(args) => show::one(&args.name, context),
        TrustCommand::Approve(args) => approve::run(&args, context),
        TrustCommand::Deny(args) => decide::run(&args, Status::Denied, None, context),
        TrustCommand::Revoke(args) => decide::end(&args, Status::Revoked, context),
        TrustCommand::Compromised(args) => decide::end(&args, Status::Compromised, context),
        TrustCommand::Log => log::run(context),
        TrustCommand::Check(args) => store::check(&args, context),
        TrustCommand::Sign(args) => store::sign(&args, context),
        TrustCommand::Prune(args) => store::prune(&args, context),
        TrustCommand::Rekey(args) => store::rekey(&args, context),
        TrustCommand::Policy(args) => store::policy(&args, context),
    }
}
