/** Installs Debian packages of the servers that tests start. */
import { spawnSync } from "node:child_process"
import { existsSync, rmSync, writeFileSync } from "node:fs"

const policy = "/usr/sbin/policy-rc.d"

/**
 * Installs packages if any of their commands is missing, without starting services.
 *
 * Only `WEFT_TEST_INSTALL=1` permits the installation, which needs root and apt-get. Otherwise it fails with the command
 * to run.
 */
export const installed = (what: string, commands: ReadonlyArray<string>, packages: ReadonlyArray<string>): void => {
  const areInstalled = () => commands.every((command) => run("which", [command]).status === 0)
  if (areInstalled()) return
  const byHand = `apt-get install --no-install-recommends ${packages.join(" ")}`
  const mayInstall = process.env.WEFT_TEST_INSTALL === "1"
  if (!mayInstall || process.getuid?.() !== 0 || run("which", ["apt-get"]).status !== 0) {
    throw new Error(`${what} is not installed. Run as root: ${byHand}\nOr let tests install it: WEFT_TEST_INSTALL=1`)
  }
  const made = !existsSync(policy)
  if (made) writeFileSync(policy, "#!/bin/sh\nexit 101\n", { mode: 0o755 })
  try {
    const options = ["-y", "-qq", "-o", "DPkg::Lock::Timeout=300", "--no-install-recommends"]
    if (run("apt-get", ["install", ...options, ...packages]).status === 0 && areInstalled()) return
    // The package lists may be missing or outdated.
    run("apt-get", ["update", "-qq", "-o", "DPkg::Lock::Timeout=300"])
    const last = run("apt-get", ["install", ...options, ...packages])
    if (!areInstalled()) throw new Error(`${what} could not be installed with "${byHand}": ${last.stderr.slice(-500)}`)
  } finally {
    if (made) rmSync(policy, { force: true })
  }
}

const run = (command: string, args: ReadonlyArray<string>) =>
  spawnSync(command, args, { encoding: "utf8", env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } })
