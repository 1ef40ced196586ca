/** Starts headless Chromium from its Debian package, with a temporary profile. */
import { join } from "node:path"
import { daemons } from "./Daemons.ts"
import { installed } from "./Debian.ts"

const chromiumPackages = ["chromium"]

export interface Chromium {
  /** Stops the browser and removes its profile. */
  readonly remove: () => Promise<void>
}

/** Returns the path of the browser, and installs it if it is missing. */
export const installChromium = (): string => {
  installed("Chromium", ["chromium"], chromiumPackages)
  return "/usr/bin/chromium"
}

/** Opens a page. The page must report its result to its own server. */
export const chromium = (url: string): Chromium => {
  installed("Chromium", ["chromium"], chromiumPackages)
  const { begin, dir, remove } = daemons("chromium")
  // The sandbox of Chromium does not work as root or in containers. Only pages of the tests are opened.
  const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
  begin("chromium", "chromium", [...flags, `--user-data-dir=${join(dir, "profile")}`, url])
  return { remove }
}
