/** Why a database cannot be used at all. Both are for the person who configured it, at start. */
import { Schema } from "effect"

/** Another process, or another part of this one, has the database open: it can have one user at a time. */
export class DatabaseInUse extends Schema.TaggedError<DatabaseInUse>()("DatabaseInUse", { file: Schema.String }) {
  override get message(): string {
    return `The database ${this.file} is in use: it can be open in one process at a time`
  }
}

/** The file cannot be opened, is no database, or cannot be brought up to date. */
export class DatabaseUnusable extends Schema.TaggedError<DatabaseUnusable>()("DatabaseUnusable", {
  file: Schema.String,
  cause: Schema.Defect()
}) {
  override get message(): string {
    const reason = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `The database ${this.file} cannot be used: ${reason}`
  }
}
