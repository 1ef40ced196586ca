/** `npm start`: the reference server, built anew where a source of it has changed. */
import { pathToFileURL } from "node:url"
import { referenceServer } from "@weft/tooling/programs"

await import(pathToFileURL(await referenceServer()).href)
