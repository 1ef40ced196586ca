/** Installs `strace` from its Debian package if it is missing. */
import { installed } from "./Debian.ts"

const stracePackages = ["strace"]

export const strace = (): void => installed("strace", ["strace"], stracePackages)
