export { type BlobCopy, type BlobCopyOptions, blobCopy, type CopiedEntry, type NamedBlobs } from "./BlobCopy.ts"
export { blobs, type FilesystemOptions, FolderUnusable } from "./FilesystemBlobs.ts"
export { type MasterKeyOptions, masterKey } from "./MasterKey.ts"
