/** Installs `rsync` from its Debian package if it is missing. */
import { installed } from "./Debian.ts"

const rsyncPackages = ["rsync"]

export const rsync = (): void => installed("rsync", ["rsync"], rsyncPackages)
