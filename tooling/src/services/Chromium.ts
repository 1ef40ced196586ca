/** A headless browser with a profile of its own. Of Debian's package. */
import { join } from "node:path"
import { daemons } from "./Daemons.ts"
import { installed } from "./Debian.ts"

export const chromiumPackages = ["chromium"]

export interface Chromium {
  /** Ends the browser and removes its profile. */
  readonly remove: () => Promise<void>
}

/** Opens a page. What becomes of it the page has to tell by itself: it asks its own server. */
export const chromium = (url: string): Chromium => {
  installed("Chromium", ["chromium"], chromiumPackages)
  const { begin, dir, remove } = daemons("chromium")
  // Its own sandbox wants rights that containers and root do not have; pages here are those of the tests.
  const own = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
  begin("chromium", "chromium", [...own, `--user-data-dir=${join(dir, "profile")}`, url])
  return { remove }
}
