/**
 * The tables, and how they came to be.
 *
 * Instants are integers in milliseconds. A delivery has no row of its own while it runs: what it is made of lies
 * in its run, so that an event that is handled at once costs one row less to write and to remove. Counts of what
 * only grows are kept, because lists say their total and counting a million rows would hold up everybody else.
 */
import { monthOf, now } from "@weft/core"
import { Effect } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { Database } from "./Database.ts"
import { access } from "./migrations/Access.ts"
import { announcements } from "./migrations/Announcements.ts"
import { audit } from "./migrations/Audit.ts"
import { domains } from "./migrations/Domains.ts"
import { files } from "./migrations/Files.ts"
import { groups } from "./migrations/Groups.ts"
import { init } from "./migrations/Init.ts"
import { live } from "./migrations/Live.ts"
import { once } from "./migrations/Once.ts"
import { queue } from "./migrations/Queue.ts"
import { rates } from "./migrations/Rates.ts"
import { schedules } from "./migrations/Schedules.ts"
import { secrets } from "./migrations/Secrets.ts"
import { streams } from "./migrations/Streams.ts"
import { usage } from "./migrations/Usage.ts"

/** Brings the database to where the version left it whose last step has this number: what an upgrade starts from. */
export const migrateTo = Effect.fnUntraced(function* (last: number) {
  const database = yield* Database
  const { dialect, writer } = database
  const run = (statements: ReadonlyArray<string>) =>
    Effect.forEach(statements, (statement) => writer.unsafe(statement), { discard: true })

  // A step that was released is never changed; a change is a step of its own.
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
    "0016_audit": run(audit(dialect))
  }
  yield* Migrator.make({})({
    loader: Migrator.fromRecord(
      Object.fromEntries(Object.entries(steps).filter(([name]) => Number.parseInt(name, 10) <= last))
    ),
    table: "weft_migrations"
  }).pipe(Effect.provideService(SqlClient.SqlClient, writer))
})

/** Brings the database up to date. Safe to run at every start. */
export const migrate = migrateTo(Number.POSITIVE_INFINITY)
