/** Where the scripts are that do not run in this process: next to this file, as source or as built. */
const extension = import.meta.url.endsWith(".ts") ? "ts" : "js"

export const runnerEntry = new URL(`./runner/main.${extension}`, import.meta.url)
export const guestEntry = new URL(`./guest/main.${extension}`, import.meta.url)
