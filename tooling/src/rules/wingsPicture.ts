/** The picture of the wings shows the imports of the sources. */
import { drawWings } from "../architecture/Drawing.ts"
import { importsOfWings } from "../architecture/Imports.ts"
import type { Finding } from "../Finding.ts"
import type { Repository } from "../Repository.ts"

export const picture = "docs/pictures/wings.svg"

export const wingsPicture = (repository: Repository): ReadonlyArray<Finding> => {
  const current = repository.texts.get(picture)
  return current === undefined || current === drawWings(importsOfWings(repository))
    ? []
    : [{ file: picture, line: 1, rule: "wings-picture", message: "differs from the imports; run `npm run wings`" }]
}
