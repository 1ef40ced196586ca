export * from "./FilesystemBlobs.ts"
export * from "./MasterKey.ts"
