import { expect, it } from "vitest"
import { dependencyReasons } from "../../src/rules/dependencyReasons.ts"
import { findingsOf } from "../fixture.ts"

it("The page of decisions has a row for each dependency, except workspaces and types", () => {
  expect(
    findingsOf(dependencyReasons, {
      "docs/decisions/README.md":
        "| package | why |\n| --- | --- |\n| a 1.0.0, @x/b (development) | fast, unlike c |\n",
      "package.json": { name: "root", devDependencies: { "@x/b": "1", "@types/node": "1" } },
      "packages/p/package.json": {
        name: "p",
        dependencies: { a: "1", c: "1" },
        peerDependencies: { root: "1", b: "1" }
      }
    })
  ).toEqual([
    "packages/p/package.json:5 dependency-reason docs/decisions/README.md has no row for c",
    "packages/p/package.json:9 dependency-reason docs/decisions/README.md has no row for b"
  ])
})
