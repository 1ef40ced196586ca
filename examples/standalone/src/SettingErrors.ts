/** Converts startup errors of adapters into errors of settings, which operators can correct. */
import { BadRequest, DatabaseEmpty, MasterKeyMissing } from "@weft/core"
import { SettingError, type Settings } from "./Settings.ts"

/** Returns the variable that caused an adapter error with this tag, or null. */
const findVariable = (tag: unknown, { database, storage, pubSub }: Settings): string | null => {
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
    case "ClusterUnusable":
      return pubSub.kind === "postgres" ? "WEFT_DATABASE_URL" : "WEFT_PUBSUB"
    default:
      return null
  }
}

/** Converts an error into one of a setting. Returns it unchanged if no setting caused it. */
export const toSettingError = (error: unknown, settings: Settings): unknown => {
  if (!(error instanceof Error)) return error
  if (error instanceof DatabaseEmpty) return toInstallationError(settings)
  if (error instanceof MasterKeyMissing) return toMasterKeyError(error)
  const variable = "_tag" in error ? findVariable(error._tag, settings) : null
  return variable === null ? error : new SettingError(variable, `does not work: ${error.message}`)
}

const toInstallationError = (settings: Settings): SettingError =>
  new SettingError(
    findVariable("DatabaseUnusable", settings) ?? "WEFT_DATABASE_URL",
    "must be the database of the stored blobs: it is empty, but the blob store is not. Restore its backup, or, for a new installation, empty the blob store or set WEFT_NEW_INSTALLATION=true"
  )

const toMasterKeyError = ({ current_id, missing_id }: MasterKeyMissing): SettingError =>
  new SettingError(
    "WEFT_MASTER_KEY",
    `has the id ${current_id}, but stored secrets need the key with the id ${missing_id}: add that key to WEFT_MASTER_KEY_PREVIOUS, or its id to WEFT_MASTER_KEY_LOST if it is lost`
  )

/** Converts an error of the listening socket, like `toSettingError`. */
export const toAddressError = (error: unknown, { host, port }: Settings): unknown => {
  if (!(error instanceof Error && "syscall" in error && "code" in error)) return error
  switch (error.code) {
    case "EADDRINUSE":
      return new SettingError("WEFT_PORT", `must be free: ${host}:${port} is in use by another program`)
    case "EACCES":
      return new SettingError("WEFT_PORT", `must be a port that this user may bind: ${error.message}`)
    default:
      return new SettingError("WEFT_HOST", `must be an address of this machine: ${error.message}`)
  }
}

/** Converts an error of the configured API key, like `toSettingError`. */
export const toKeyError = <E extends { readonly _tag: string }>(error: E | BadRequest): E | SettingError =>
  error instanceof BadRequest ? new SettingError("WEFT_API_KEY", `is refused: ${error.reason}`) : error
