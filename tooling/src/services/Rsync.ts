/** `rsync`, of Debian's package, where it is missing. */
import { installed } from "./Debian.ts"

export const rsyncPackages = ["rsync"]

export const rsync = (): void => installed("rsync", ["rsync"], rsyncPackages)
