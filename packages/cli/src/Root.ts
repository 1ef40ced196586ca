/** The command `weft` with all of its subcommands. */
import { Layer } from "effect"
import { Command } from "effect/cli"
import { admin } from "./commands/admin/admin.ts"
import { alerts } from "./commands/alerts/alerts.ts"
import { backup } from "./commands/backup/backup.ts"
import { build } from "./commands/build/build.ts"
import { canary } from "./commands/canary/canary.ts"
import { context } from "./commands/context/context.ts"
import { deadLetters } from "./commands/deadLetters/deadLetters.ts"
import { deliveries } from "./commands/deliveries/deliveries.ts"
import { deploy } from "./commands/deploy/deploy.ts"
import { dev } from "./commands/dev/dev.ts"
import { doctor } from "./commands/doctor/doctor.ts"
import { domains } from "./commands/domains/domains.ts"
import { evaluate } from "./commands/eval/eval.ts"
import { events } from "./commands/events/events.ts"
import { files } from "./commands/files/files.ts"
import { init } from "./commands/init/init.ts"
import { keys } from "./commands/keys/keys.ts"
import { login } from "./commands/login/login.ts"
import { logs } from "./commands/logs/logs.ts"
import { operations } from "./commands/operations/operations.ts"
import { pause } from "./commands/pauses/pause.ts"
import { pauses } from "./commands/pauses/pauses.ts"
import { resume } from "./commands/pauses/resume.ts"
import { previews } from "./commands/previews/previews.ts"
import { profiles } from "./commands/profiles/profiles.ts"
import { release } from "./commands/release/release.ts"
import { repl } from "./commands/repl/repl.ts"
import { replay } from "./commands/replay/replay.ts"
import { rollback } from "./commands/rollback/rollback.ts"
import { run } from "./commands/run/run.ts"
import { runs } from "./commands/runs/runs.ts"
import { server } from "./commands/server/server.ts"
import { sessions } from "./commands/sessions/sessions.ts"
import { tokens } from "./commands/tokens/tokens.ts"
import { usage } from "./commands/usage/usage.ts"
import { whoami } from "./commands/whoami/whoami.ts"
import { why } from "./commands/why/why.ts"
import { Api } from "./connection/Api.ts"
import { globalFlags } from "./GlobalFlags.ts"
import { Output } from "./output/Output.ts"
import { Profiles } from "./profiles/Profiles.ts"

/** Services of every command. */
const services = Layer.provideMerge(Api.layer, Layer.mergeAll(Output.layer, Profiles.layer))

export const root = Command.make("weft").pipe(
  Command.withDescription("Workflow automation that runs tenants' code: write, test and deploy functions"),
  Command.withSubcommands([
    { group: "Projects", commands: [init, dev, build, deploy, canary, previews, rollback, release, server] },
    {
      group: "Functions",
      commands: [
        run,
        evaluate,
        repl,
        runs,
        replay,
        operations,
        tokens,
        logs,
        events,
        deliveries,
        deadLetters,
        why,
        pause,
        resume,
        pauses,
        alerts
      ]
    },
    { group: "Data of functions", commands: [context, files] },
    { group: "Access", commands: [login, whoami, profiles, keys, sessions] },
    { group: "Environment and host", commands: [usage, domains, doctor, backup, admin] }
  ]),
  Command.provide(services),
  Command.withGlobalFlags(globalFlags)
)
