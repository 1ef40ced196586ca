/** `strace`, of Debian's package, where it is missing. */
import { installed } from "./Debian.ts"

export const stracePackages = ["strace"]

export const strace = (): void => installed("strace", ["strace"], stracePackages)
