export * from "./FilesystemBlobs.ts"
