export { blobs, type FilesystemOptions, FolderUnusable } from "./FilesystemBlobs.ts"
export { type MasterKeyOptions, masterKey } from "./MasterKey.ts"
