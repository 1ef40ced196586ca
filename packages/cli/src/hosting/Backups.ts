/** Backups of a SQLite database and a folder of blobs. Only plain values cross the border of this module. */
export { type BackupOptions, type BackupResult, createBackup, describeBackup } from "../backup/CreateBackup.ts"
export { type RestoreOptions, restoreBackup, type VerifiedBackup, verifyBackup } from "../backup/RestoreBackup.ts"
