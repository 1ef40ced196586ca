/**
 * Migrations of the tables.
 *
 * Instants are integers in milliseconds. A running delivery has no row of its own: its fields are columns of its run.
 * This saves one row to write and to delete for each event that is handled immediately. Counts of growing tables are
 * stored: lists return a total, and counting a million rows would block other statements.
 */
import { monthOf, now } from "@weft/core/adapter"
import { Effect } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { Database } from "./Database.ts"
import { checkGeneration } from "./Generation.ts"
import { access } from "./migrations/Access.ts"
import { alerts } from "./migrations/Alerts.ts"
import { announcements } from "./migrations/Announcements.ts"
import { audit } from "./migrations/Audit.ts"
import { batches } from "./migrations/Batches.ts"
import { canaries } from "./migrations/Canaries.ts"
import { chains } from "./migrations/Chains.ts"
import { checksums } from "./migrations/Checksums.ts"
import { deadLetters } from "./migrations/DeadLetters.ts"
import { deadRuns } from "./migrations/DeadRuns.ts"
import { domains } from "./migrations/Domains.ts"
import { files } from "./migrations/Files.ts"
import { flow } from "./migrations/Flow.ts"
import { generations } from "./migrations/Generations.ts"
import { groups } from "./migrations/Groups.ts"
import { init } from "./migrations/Init.ts"
import { live } from "./migrations/Live.ts"
import { once } from "./migrations/Once.ts"
import { operations } from "./migrations/Operations.ts"
import { pauses } from "./migrations/Pauses.ts"
import { previews } from "./migrations/Previews.ts"
import { queue } from "./migrations/Queue.ts"
import { rates } from "./migrations/Rates.ts"
import { recordings } from "./migrations/Recordings.ts"
import { removals } from "./migrations/Removals.ts"
import { runCounts } from "./migrations/RunCounts.ts"
import { schedules } from "./migrations/Schedules.ts"
import { search } from "./migrations/Search.ts"
import { secrets } from "./migrations/Secrets.ts"
import { series } from "./migrations/Series.ts"
import { streams } from "./migrations/Streams.ts"
import { usage } from "./migrations/Usage.ts"
import { waits } from "./migrations/Waits.ts"
import { workflows } from "./migrations/Workflows.ts"

/** Number of the latest step. */
const lastStep = 30

/** Migrates the database to the step with this number. Tests use it to start an upgrade from an older release. */
export const migrateTo = Effect.fnUntraced(function* (last: number) {
  const database = yield* Database
  const { dialect, writer } = database
  const run = (statements: ReadonlyArray<string>) =>
    Effect.forEach(statements, (statement) => writer.unsafe(statement), { discard: true })

  // A released step is never changed. Each change is a new step.
  const steps = {
    "0001_init": run(init(dialect)),
    "0002_access": run(access(dialect)),
    "0003_secrets": run(secrets(dialect)),
    "0004_files": run(files(dialect)),
    "0005_usage": Effect.flatMap(now, (instant) => run(usage(dialect, monthOf(instant)))),
    "0006_domains": run(domains(dialect)),
    "0007_groups": run(groups(dialect)),
    "0008_once": run(once(dialect)),
    "0009_schedules": Effect.flatMap(now, (instant) => schedules(database, instant)),
    "0010_live": run(live(dialect)),
    "0011_streams": run(streams),
    "0012_queue": run(queue),
    "0013_rates": run(rates(dialect)),
    "0014_arrivals": run(dialect.arrivals),
    "0015_announcements": run(announcements(dialect)),
    "0016_audit": run(audit(dialect)),
    "0017_generations": run(generations),
    "0018_chains": run(chains(dialect)),
    "0019_removals": run(removals(dialect)),
    "0020_checksums": run(checksums(dialect)),
    "0021_workflows": run([
      ...workflows(dialect),
      ...runCounts(dialect),
      ...flow(dialect),
      ...waits(dialect),
      ...pauses(dialect)
    ]),
    "0022_dead_letters": run(deadLetters(dialect)),
    "0023_operations": run(operations(dialect)),
    "0024_series": run([...series(dialect), ...alerts(dialect)]),
    "0025_canaries": run(canaries(dialect)),
    "0026_search": run(search(dialect)),
    "0027_batches": run(batches(dialect)),
    "0028_recordings": run(recordings(dialect)),
    "0029_previews": run(previews(dialect)),
    "0030_dead_runs": run(deadRuns)
  }
  yield* Migrator.make({})({
    loader: Migrator.fromRecord(
      Object.fromEntries(Object.entries(steps).filter(([name]) => Number.parseInt(name, 10) <= last))
    ),
    table: "weft_migrations"
  }).pipe(Effect.provideService(SqlClient.SqlClient, writer))
})

/**
 * Migrates the database to the latest step. Safe to run at every start. Fails with `SchemaTooNew` for a database that was
 * used by a release more than one ahead.
 */
export const migrate = Effect.andThen(migrateTo(Number.POSITIVE_INFINITY), checkGeneration(lastStep))
