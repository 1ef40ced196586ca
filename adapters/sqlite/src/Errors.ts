/** Errors of a database at start, for the person who configured it. */
import { Schema } from "effect"

/** Another process, or another part of this one, has the database open. */
export class DatabaseInUse extends Schema.TaggedError<DatabaseInUse>()("DatabaseInUse", { file: Schema.String }) {
  override get message(): string {
    return `The database ${this.file} is in use. Only one process can open it at a time`
  }
}

/** The file cannot be opened, is not a database, or cannot be migrated. */
export class DatabaseUnusable extends Schema.TaggedError<DatabaseUnusable>()("DatabaseUnusable", {
  file: Schema.String,
  cause: Schema.Defect()
}) {
  override get message(): string {
    const reason = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `The database ${this.file} cannot be used: ${reason}`
  }
}
