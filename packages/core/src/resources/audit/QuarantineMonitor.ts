/** Metrics of the sandbox, and audit entries of the builds that it quarantines. */
import { Effect, Layer, Schedule } from "effect"
import { forkSupervised, logOutage } from "../../foundation/Supervised.ts"
import { NodeMetrics } from "../../foundation/telemetry/NodeMetrics.ts"
import type { Series } from "../../foundation/telemetry/Series.ts"
import { type Quarantine, Sandbox, type SandboxStatus } from "../../platform/sandbox/Sandbox.ts"
import { makeEntries } from "./AuditFacts.ts"
import { AuditStore } from "./AuditStore.ts"

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const sandbox = yield* Sandbox
    const metrics = yield* NodeMetrics
    const audit = yield* AuditStore
    const entries = yield* makeEntries

    metrics.register(Effect.map(sandbox.status, toSeries))

    const record = Effect.fnUntraced(function* ({ env_id, build_id, reason, strikes }: Quarantine) {
      const toEntry = yield* entries
      const details = { reason, strikes }
      const entry = toEntry({ action: "build.quarantine", env_id, object_id: build_id, details })
      // The sandbox reports each quarantine once.
      yield* Effect.retry(Effect.tapError(audit.append([entry]), logOutage), { schedule: Schedule.spaced("1 second") })
    })

    yield* forkSupervised({ name: "The recorder of quarantines" }, Effect.flatMap(sandbox.nextQuarantine, record))
  })
)

const toSeries = ({ runnerDeaths, quarantined }: SandboxStatus): ReadonlyArray<Series> => [
  ...[...runnerDeaths].map(
    ([reason, value]): Series => ({
      type: "counter",
      name: "weft_sandbox_runner_deaths_total",
      help: "Unexpected deaths of runner processes",
      labels: { reason },
      value
    })
  ),
  {
    type: "gauge",
    name: "weft_sandbox_quarantined",
    help: "Builds that this node does not run, because they repeatedly ended their runner process",
    labels: {},
    value: quarantined
  }
]
