/** All stores of one database. */
import type { ApiKeyStore, BuildStore, EventStore, JournalStore, ProjectStore, RunStore, TenantStore } from "@weft/core"
import { Layer } from "effect"
import * as ApiKeyStoreSql from "./ApiKeyStoreSql.ts"
import * as BuildStoreSql from "./BuildStoreSql.ts"
import type { Database } from "./Database.ts"
import * as EventStoreSql from "./EventStoreSql.ts"
import * as JournalStoreSql from "./JournalStoreSql.ts"
import * as ProjectStoreSql from "./ProjectStoreSql.ts"
import * as RunStoreSql from "./RunStoreSql.ts"
import * as TenantStoreSql from "./TenantStoreSql.ts"

/** The journal alone, for a thread of its own. Needs a database that is up to date. */
export const journalStore: Layer.Layer<JournalStore, never, Database> = JournalStoreSql.layer

/** Every store but the journal. Needs a database that is up to date. */
export const recordStores: Layer.Layer<
  ApiKeyStore | TenantStore | ProjectStore | BuildStore | EventStore | RunStore,
  never,
  Database
> = Layer.mergeAll(
  ApiKeyStoreSql.layer,
  TenantStoreSql.layer,
  ProjectStoreSql.layer,
  BuildStoreSql.layer,
  EventStoreSql.layer,
  RunStoreSql.layer
)
