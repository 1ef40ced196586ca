/** Databases, authentication, parsing, validation. */
import type { Area } from "../Case.ts"

export const data: Area = {
  name: "databases, authentication, validation",
  cases: [
    {
      name: "@neondatabase/serverless",
      code: `import { neon } from "@neondatabase/serverless"
        export const main = async () => neon("postgres://u:p@db.example.test/d")\`select \${1} as n\``,
      reply: { body: { fields: [{ name: "n", dataTypeID: 23 }], rows: [["1"]], command: "SELECT", rowCount: 1 } },
      expected: [{ n: 1 }]
    },
    {
      name: "@libsql/client",
      packages: ["@libsql/client"],
      code: `import { createClient } from "@libsql/client/web"
        export const main = () => createClient({ url: "https://db.example.test", authToken: "t" }).protocol`,
      expected: "http"
    },
    {
      name: "@planetscale/database",
      code: `import { connect } from "@planetscale/database"
        export const main = async () => (await connect({ host: "h.example.test", username: "u", password: "p" }).execute("select 1 as n")).rows`,
      reply: {
        body: {
          session: {},
          timing: 1,
          result: { fields: [{ name: "n", type: "INT64" }], rows: [{ lengths: ["1"], values: "MQ==" }] }
        }
      },
      expected: [{ n: "1" }]
    },
    {
      name: "@upstash/redis",
      code: `import { Redis } from "@upstash/redis"
        export const main = async () => new Redis({ url: "https://r.example.test", token: "t" }).get("k")`,
      reply: { body: [{ result: "value" }] },
      expected: "value"
    },
    {
      name: "drizzle-orm",
      code: `import { eq } from "drizzle-orm"
        import { drizzle } from "drizzle-orm/pg-proxy"
        import { pgTable, serial, text } from "drizzle-orm/pg-core"
        const people = pgTable("people", { id: serial("id"), name: text("name") })
        export const main = async () => {
          const statements = []
          const db = drizzle(async (sql, params) => { statements.push([sql, params]); return { rows: [[1, "Ada"]] } })
          return [await db.select().from(people).where(eq(people.id, 1)), statements]
        }`,
      expected: [[{ id: 1, name: "Ada" }], [['select "id", "name" from "people" where "people"."id" = $1', [1]]]]
    },
    {
      name: "kysely",
      code: `import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely"
        export const main = () => {
          const db = new Kysely({ dialect: { createAdapter: () => new PostgresAdapter(), createDriver: () => new DummyDriver(), createIntrospector: (each) => new PostgresIntrospector(each), createQueryCompiler: () => new PostgresQueryCompiler() } })
          return db.selectFrom("people").select("name").where("id", "=", 1).compile().sql
        }`,
      expected: 'select "name" from "people" where "id" = $1'
    },
    {
      name: "knex",
      code: `import knex from "knex"
        export const main = () => knex({ client: "pg" })("people").select("name").where({ id: 1 }).toString()`,
      expected: 'select "name" from "people" where "id" = 1'
    },
    {
      name: "pg (without a connection)",
      packages: ["pg"],
      code: `import pg from "pg"
        export const main = async () => new pg.Client({ host: "db.example.test" }).connect().catch((error) => error.message.slice(0, 40))`,
      expected: "net.connect is not available in function"
    },
    {
      name: "mongodb (bson)",
      packages: ["bson"],
      code: `import { BSON, ObjectId } from "bson"
        export const main = () => [BSON.deserialize(BSON.serialize({ a: 1, b: ["x"] })), new ObjectId("507f1f77bcf86cd799439011").toHexString()]`,
      expected: [{ a: 1, b: ["x"] }, "507f1f77bcf86cd799439011"]
    },
    {
      name: "jsonwebtoken",
      code: `import jwt from "jsonwebtoken"
        export const main = () => {
          const token = jwt.sign({ sub: "ada" }, "secret", { noTimestamp: true })
          return [token, jwt.verify(token, "secret")]
        }`,
      expected: [
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhZGEifQ.-G7HR4Se6onpiv1N_jWqt9jGA0VR0kRJ_2BoHWhkfhg",
        { sub: "ada" }
      ]
    },
    {
      name: "jose",
      code: `import { jwtVerify, SignJWT } from "jose"
        export const main = async () => {
          const key = new TextEncoder().encode("a secret of at least thirty-two bytes")
          const token = await new SignJWT({ a: 1 }).setProtectedHeader({ alg: "HS256" }).sign(key)
          return (await jwtVerify(token, key)).payload
        }`,
      expected: { a: 1 }
    },
    {
      name: "bcryptjs",
      code: `import bcrypt from "bcryptjs"
        export const main = async () => [await bcrypt.compare("secret", await bcrypt.hash("secret", 4)), bcrypt.hashSync("x", 4).slice(0, 7)]`,
      expected: [true, "$2b$04$"]
    },
    {
      name: "uuid",
      code: `import { v4, v5, validate } from "uuid"
        export const main = () => [validate(v4()), v5("weft", v5.URL)]`,
      expected: [true, "3b241fd5-6253-5d39-b3e3-16bc7849138c"]
    },
    {
      name: "nanoid",
      code: `import { nanoid } from "nanoid"\nexport const main = () => nanoid().length`,
      expected: 21
    },
    { name: "ulid", code: `import { ulid } from "ulid"\nexport const main = () => ulid().length`, expected: 26 },
    {
      name: "otplib",
      packages: ["otpauth"],
      code: `import { TOTP } from "otpauth"
        export const main = () => new TOTP({ secret: "NB2W45DFOIZA" }).generate({ timestamp: 0 })`,
      expected: "794591"
    },
    {
      name: "oauth-1.0a",
      code: `import OAuth from "oauth-1.0a"
        import { createHmac } from "crypto"
        export const main = () => new OAuth({ consumer: { key: "k", secret: "s" }, signature_method: "HMAC-SHA1", hash_function: (text, key) => createHmac("sha1", key).update(text).digest("base64") }).authorize({ url: "https://a.example.test", method: "GET" }).oauth_signature.length`,
      expected: 28
    },
    {
      name: "zod",
      code: `import * as z from "zod"
        export const main = () => z.object({ email: z.email(), age: z.coerce.number() }).safeParse({ email: "no", age: "7" }).error.issues.map(({ path }) => path)`,
      expected: [["email"]]
    },
    {
      name: "joi",
      code: `import Joi from "joi"
        export const main = () => Joi.object({ a: Joi.number().required() }).validate({ a: "7" }).value`,
      expected: { a: 7 }
    },
    {
      name: "yup",
      code: `import * as yup from "yup"
        export const main = () => yup.object({ a: yup.number().required() }).validate({ a: "7" })`,
      expected: { a: 7 }
    },
    {
      name: "ajv",
      packages: ["ajv", "ajv-formats"],
      code: `import Ajv from "ajv"
        import addFormats from "ajv-formats"
        export const main = () => addFormats(new Ajv()).compile({ type: "object", properties: { mail: { type: "string", format: "email" } } })({ mail: "a@example.test" })`,
      expected: true
    },
    {
      name: "valibot",
      code: `import * as v from "valibot"
        export const main = () => v.parse(v.object({ a: v.pipe(v.string(), v.trim()) }), { a: " x " })`,
      expected: { a: "x" }
    },
    {
      name: "class-validator",
      packages: ["class-validator", "class-transformer", "reflect-metadata"],
      code: `import "reflect-metadata"
        import { plainToInstance } from "class-transformer"
        export const main = () => { class A { a = 1 } return plainToInstance(A, { a: 2 }) instanceof A }`,
      expected: true
    },
    {
      name: "@sinclair/typebox",
      code: `import { Type } from "@sinclair/typebox"
        import { Value } from "@sinclair/typebox/value"
        export const main = () => Value.Check(Type.Object({ a: Type.Number() }), { a: 1 })`,
      expected: true
    }
  ]
}
