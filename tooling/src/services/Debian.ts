/** Packages of Debian that servers for tests come from. */
import { spawnSync } from "node:child_process"
import { existsSync, rmSync, writeFileSync } from "node:fs"

const policy = "/usr/sbin/policy-rc.d"

/**
 * Installs what is missing, without starting its services. Where that cannot be done, fails with the line that
 * somebody who may would type.
 */
export const installed = (what: string, commands: ReadonlyArray<string>, packages: ReadonlyArray<string>): void => {
  const areThere = () => commands.every((command) => run("which", [command]).status === 0)
  if (areThere()) return
  const byHand = `apt-get install --no-install-recommends ${packages.join(" ")}`
  if (process.getuid?.() !== 0 || run("which", ["apt-get"]).status !== 0) {
    throw new Error(`${what} is missing. As root: ${byHand}`)
  }
  const made = !existsSync(policy)
  if (made) writeFileSync(policy, "#!/bin/sh\nexit 101\n", { mode: 0o755 })
  try {
    const options = ["-y", "-qq", "-o", "DPkg::Lock::Timeout=300", "--no-install-recommends"]
    if (run("apt-get", ["install", ...options, ...packages]).status === 0 && areThere()) return
    // The lists of packages may be missing or old.
    run("apt-get", ["update", "-qq", "-o", "DPkg::Lock::Timeout=300"])
    const last = run("apt-get", ["install", ...options, ...packages])
    if (!areThere()) throw new Error(`${what} cannot be installed by ${byHand}: ${last.stderr.slice(-500)}`)
  } finally {
    if (made) rmSync(policy, { force: true })
  }
}

const run = (command: string, args: ReadonlyArray<string>) =>
  spawnSync(command, args, { encoding: "utf8", env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } })
