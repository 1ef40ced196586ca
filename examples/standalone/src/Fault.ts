/** What ended a start, as the setting that has to be another: whoever reads it knows variables, not adapters. */
import { BadRequest } from "@weft/core"
import { SettingError, type Settings } from "./Settings.ts"

/** Of errors of adapters, by their tag, the variable that says what they could not use. */
const variableOf = (tag: unknown, { database, storage, pubSub }: Settings): string | null => {
  switch (tag) {
    case "DatabaseInUse":
    case "DatabaseUnusable":
      return database.kind === "sqlite" && database.file === null ? "WEFT_DATA_DIR" : "WEFT_DATABASE_URL"
    case "PostgresUnusable":
      return "WEFT_DATABASE_URL"
    case "FolderUnusable":
      return storage.kind === "file" && storage.dir === null ? "WEFT_DATA_DIR" : "WEFT_STORAGE_URL"
    case "BucketUnusable":
      return "WEFT_STORAGE_URL"
    case "FeedUnusable":
      return pubSub.kind === "postgres" ? "WEFT_DATABASE_URL" : "WEFT_PUBSUB"
    default:
      return null
  }
}

/** The error as one of a setting, or as it is where no setting is at fault. */
export const asSettingError = (error: unknown, settings: Settings): unknown => {
  if (!(error instanceof Error)) return error
  const variable = "_tag" in error ? variableOf(error._tag, settings) : null
  return variable === null ? error : new SettingError(variable, `does not work: ${error.message}`)
}

/** As `asSettingError`, of an address that cannot be listened at. */
export const asAddressError = (error: unknown, { host, port }: Settings): unknown => {
  if (!(error instanceof Error && "syscall" in error && "code" in error)) return error
  switch (error.code) {
    case "EADDRINUSE":
      return new SettingError("WEFT_PORT", `must be free: ${host}:${port} is in use by another program`)
    case "EACCES":
      return new SettingError("WEFT_PORT", `must be one that this user may listen at: ${error.message}`)
    default:
      return new SettingError("WEFT_HOST", `must be an address of this machine: ${error.message}`)
  }
}

/** As `asSettingError`, of the API key that the settings name. */
export const asKeyError = <E extends { readonly _tag: string }>(error: E | BadRequest): E | SettingError =>
  error instanceof BadRequest ? new SettingError("WEFT_API_KEY", `is refused: ${error.reason}`) : error

export const foreignSecrets = new SettingError(
  "WEFT_MASTER_KEY",
  "must be the key of the secrets that the database has"
)
