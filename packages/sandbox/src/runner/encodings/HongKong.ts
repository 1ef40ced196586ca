/**
 * The code points of Big5 that ICU maps otherwise: the Hong Kong Supplementary Character Set and ETEN's symbols.
 *
 * They are from `index-big5.txt` of the Encoding standard: differences of successive code points, deflated.
 */
import { inflateRawSync } from "node:zlib"

/** Ranges of pointers, end excluded. */
const ranges: ReadonlyArray<readonly [start: number, end: number]> = [
  [0, 5024],
  [5432, 5465],
  [10896, 11304],
  [18996, 19782]
]

const deflated =
  "7ZpZcKPVua79rV+y261/Db9M00B3hzQzu2mGJKQJgQBpCAkQ2IQxIYSdEIZA2AlTgDDZlmVZni2Psjxb8mzLsy3JtmzLki3P8zzP8yTPlu1T7It9" +
  "d84+F2dfnKr93Ky3an0Xq9761lvfqlouLv/D//A//P/BRAiSXxy9zgi/HysSxsMFvxuPhoQEs1BvFsZ9pJa7LyiuIScDtP0Hu1sQ7BHivhMmbA9J" +
  "fdali+K+G9rMQmOlYHP3ZXKV4JyiY0l08gTqg6FMnDFNtA+7lMTCehgYGgX/MqnXDNpV0QxPQeFLtvzJcRhEp3hUhUhbuADxzJ1Nn8+0soZw4Yv2" +
  "dagMp9FvKdJg0UeYmWOduyzEE5WpIFKBBxKQbRhVx0NmImRU0m050v219fJxNqp3wEEJLBzA9DWhf7SC9rlwuvBFyvOOC77P9zxlTIS1XaheQZWH" +
  "sJROZ1OpLAcykpDfg6a7Sp8x9dDlfVKihDkZyzHT2nBUkigEFwsF66xXQeO1eD6cd4TzgptvBO///lotDu6muU7UuYQqtR7OHOnQj02V8F+4HFXO" +
  "fUdYJQmuJOoKciq4gnDKCmL6qrqcyiuIdwXhOE5eSbwrCRdngW/UoliRDlSQClpQok044o45l4HPXMTLn/3t0SFumJsSO0UvvvW2Ar6q5xo4CxSD" +
  "mavmHDAJJVwpZ+LEYnE156L4zEWc99ma2CEH7r+je+JPPBrsIpedfOziEvtajTdMGWD0sotLbiRtaGSrL13wQiOuDz8fBoeIpqPbFYhG8vGn7nR7" +
  "RTxz6kNulxtwW3KNP7Pkji3Q5TGCHcLYrcKFc8LF595U4GyoQfrrN9x+pSQcNX7Qd3MqF/wbxS/qUv7D7KYjyHiz5U91P3dJvC/r3qlU3sUlVMd3" +
  "fL5Vj/YtSAFx9WjDJm0vA78G0hXIpnM9XIqmwP5s449cQvOhzIqejLxGGwNN2awultt6IzcCfBzEBIh++Fs19L4/9cHiE7u/CEBRf798q+Xjkwvd" +
  "56967OEJeo8eVX9q/Sz/C/MXxi/GvrDA8j8liSLd5xdvltzzyAtnJUnftH1T/M39BZ6g9YSTBGlVsuBiGsbpXG4oKl2lK8OkuIlm68hOl2TmCA/F" +
  "IW2ntM9L6qdjR53Yr4Fafhw2K/S+Hvr3WC01p+CNU1USM2stwFPpUODJR50uwgGfDvUi3x1wiR2FkGJRw1uLU8JcLGtUQFIDH+XFaValwf3S1kuy" +
  "XaaJQDFf+eWhHDNfeMZlrx2pHWxyjaY80jVBfFzTPtgbIAsDpG8AfRH51HIn68ilCaGodFfiaOb70rjSUJFLsxNXzuJRX+L4Y0k3cdn9txgZKltF" +
  "UVa07Gocx87fnEhcts/NHBPVO7MmPvr1tk6JLQPv6GCthC7O8lXDUHZlMwZcjhI81sdEQR9vu7l4/307FcY92QJkp0htxdLUVMFnBxYziXkKy/4x" +
  "ksk1KD1ko3CkoC4ujjjo1CDfH6SHieLeTtvnAt071pAqhe7X8Qu/XxE5m2nHGssLQjKRjcurIKYq0ukWxnx5FzP48GbXDXwIflZiiqUNSrKbi0PC" +
  "IECJejNR0hec7kv3gwbq1UnGThW6KodFdUsg94UQLoGrHqYVMrRRBlHF4BKplRr92bi4Y5OM69DwJh561BslhUOujjlDqTENhf2tskQIrqDKbUkv" +
  "1wFKVDFN4sdZ3RjTDJHWfhxUR/pf2zzdAV6nkrmTWm66lCs/qz+Bfm9IaiHhfZjTc1zxDF4awIoUznFvfjO3JVIEop0FNjdJIt0K5KjJjGxTqNoG" +
  "h1oI8EG2dGHyurgP632EqFUS4QXtvx7gd9uQZw/aaEBa1HaCVzPAZ4WoPEHvDbUXSy6d+JO1TddWH48lraS3AdfAwVtNGhjh5yBCAzoddEkCrt9F" +
  "khl24nocAjIV7PeTvDSSd90RKXHXB9LOUsEl0iiogugR6KLoCT/fx0K6wSSeMlFtMT0Ud1yY42gXtI3Tzn6aiIrgYgAaOqAZq7TetQlltUBBqSgp" +
  "W5xsx92ZkuY26LODS2sYUny2ZBBiHdSo4IKy0ckkzrMQn2eznhyKZfMbTJ8oxK3TZK0QtUgT3Ru9YP1Oyw9CDnGQkdsL81hykHEDySyDOo8MJVh6" +
  "hMA4aUkm6CeEPG+PgRBUE8b71/AmJzP+JKuVhsZB5yclJSSikC/9JLKZ7WXQiETY0oJGrOZiT3dwqbVoPhfpdbAZDl+3hJMGJ6ZdouR4EuxLRgyk" +
  "Opv0iGoaSEMlcZFdE9BMNq1kshM2cpjTRO1vR75mqSMJ1/mskyKxnutyVUvNp3XvFv6+5PeTV2eulj8yfqfsN8ffi/6xppxuzXBxbWTq1Mbr38Xn" +
  "PhxYYDEcQl5wKTJCUzDZiyXxBhqjEuZkwqaZlZSyLmlKNeHyQ1FRKAqdgoXX/R6du+yzAbvn00up56W9EGpwdTH/IWCf1FZjbyM0f30yTgvHyLYf" +
  "KjXAsR4yV6kqAPpt5Pjp4WtKSogpi1uU0/xlCGjEW8l4KAF6XrN7s+NZwV6AXayvDiRwvclSx7VHadJpq3TAm5P7sQNvj7pbLA8lRgoR2cJKhHT2" +
  "Ka1RKPxB0BrbrGCBMHIxTrTLxXyv7rqQXDbcyQ5/8vMkSeoHZy4Ufz14NjsKLhVGwX2RMbALHVAJO2q4/pULkQnQAvlCeRCMJIH4cl4SLCSDHbLh" +
  "nWotOD4a/sicDj+8Ph0SMmApE3q/N3/uSIdCI7ixbFBlgzwXMqE2F2ryYDwXFvSQoQdrARigvRBmiuBTbTGgM/Gl8GnRLes3f/YjVRmUlMNmGYQZ" +
  "4UbXm3OMMGSEViM4jHDmkSeikRe8EI3erzLDWjW4P1YG2lpYqoVzdnC72QTby8x/mT3Hmmohrxa4zy4O18OugnmayZcZdjgr74CKFxO+sjZCaSOc" +
  "NIL7lYtnDI18wxFOutI2RU7MUBhHs4dZ1g61xlKtr5DZAiFKYbFGyP6y4IBsrMH8ArtvzEkmD8m1t3LTN+83Ut8AIXka3M7tTIHi6cR4tiyjkfBq" +
  "0xiZuL1cTt8e+n7BOIm+OlpLUy8m3PTrDjmdPWIbByxtjOTfdP0bam964EW/PdGTcj3pfHX3kIymENEj03AC4meLXCNmoE0rtFqow0pVC3T/5ieW" +
  "7zu675EAf6L71l9JU2TIKkPKeT5jng+LYkmRTBlIP+4PoL9qXQGZFfn/tkjE4ZTrStLoaCqJ+Mt2MB0OpkeD/OYrMcs4soHa7HRtT/AMYokq6qei" +
  "bpfO0gIvwa8NQgsp9/RcLI7aIaZN5psMAVrwPaHyty1pzFvHbu9OhiADWV3AReO0+oWUbFpfhaftfNAAH1WOdZ70j6UxbGwH7Kl8wBHKKAL/UqqM" +
  "IKXVvKdrRwK1yWH1+YN/BMRC3ApOeNtRc83m6JmJILTjHgn72XzlbbMyur9ITbSqCbfBB3MruKACKk7rkKoPEsZpZSSaLIaiUtjah5IUYTOdXro1" +
  "qxLlLggHYUzxVz8LGpgV0o4gLwurR8nsCKmIRannFdFQ/3bfBDYGkeTLIxpqkbzbqKMJnBMmD2HuBFJhaJSkLDCvRXYwwqZOwCcT2lrZtE5QeyGj" +
  "F+ryB/0XiZ7s8pYXC8mmgVnUq4qPXkFNqaLQjjNH3qjajEqUtFdF6o9ZeTGd40JmWcQ0c4Ti5TD8wvvDNoiuhpzPg5Ww4oe4klLaOg594xBYSr/2" +
  "VqIiJeLmw0EZAXFPFBzT0FLq9hM30aUuL+b0ZIcVtMi1tpqqnun7y/CFcDMdP6KpXqx3FfYmaFO7sJfGkt++PVVLlkTNGeQc14BST3D3IT7bz03k" +
  "8xGW7yJGLThq6WcBG9yo/7UjMdKDGiq30Kd7a+n3NPn8Yj5//OHSRxvHeLOMtRnRW0V2OmzmVmYgrpx5qaXjP2/sp0HPeZxLZTvkzo12OoQGO2gl" +
  "NlSxhAmRcVGiikUL3tJaqU8C8j0kPS2kU4nLqln+Wzuu5QquMY3qe4TqAxLQTZ13GjNpdDc1I1sP7RugCQPU2k/X+2ki9MDqAHIMoiv5L4YUsu4s" +
  "bqeAH40EaxRc1QcRz0CiGae95WjKgCa7oTsF+c9Lvl0ZoZGi8hUW84q5WnDz9JWaU1HHLNXAJzGTtIOrujb83FVP121xdxQcFIMshFZ6ceUd3Ewe" +
  "JHTQQz8wZ8KV7m601o1mxslOETN0gfdnffXM1k4nA1DvHfpAwS+TM/hy5kL4ICMG7dlg6Z3CNX706sLV1mKk9QgDeySbXyDzL5asgQwcC9S5QGPX" +
  "wTIoxCzSLT4rCLWdEMnsNH/51nPiWy+oN7FzA2tDQO8pzK/TazrWqe29TqNQX4LQfVfyt1HbgNDQLphTycAy9Ly8t4dvuxmFlqEOPyFjANl8yFQg" +
  "kuD5M7KzExa8ekCbiqQjKMlJ73nj5TDQOHCtlzA0J7XftShj4npPluLJmk0oqAL9MD2bxvQJXjlowUAaLcL2KB3s5r9/pGCbAdLKPZzlkBzGYpUa" +
  "u54zKFmGN6tXsDK3H0ZwcthHtWFMMhXMmgNZYC/sd4M+mN/wFGlQY6poI1W0Fc68gtmuW0Mok3i4D1vRihVJllTYpsK1QdyOeIPP/uX860Md0s5i" +
  "iqdbUHwKOpohUUaCnixOQf+ym4Jir00fooWTdPbX9e/TWBXMqGC9BPLVsLZDg8BvgsgmyfgN4ednB8n+OKtu4kqPeLOZbUhjl2gkSh2g+SM0G0WC" +
  "pZfOqlBdI+lvhpBJSJXM3lrfSnZgy06m1DgmHpcl4bKPtUP0aJb0rMLqOuTIaNEJORLly2m6NzWJt9WoPUkwHZPGIxzZRFv7IUdcKZrgZqv4ehu2" +
  "2fAwOokgqYkw3wx9v6/9rd4KFbnCdj0d8+dWM2EwjgVawOqhcwt4b8WbaOvwZgJ0DFHrbTmgRLocyBlh6W7p1ayqmmlm8Cprcg9ekGhG6OoIbVCh" +
  "uVPaP5vy2VYP7erFzdx8O/42RMM616giHtecms4gUzoSKaoyk4X39a14Ti9y5otKRyUzw5L5Frx0ygt6xVUoepn63R1aSQe4ry8toh/OgR2ZQCzm" +
  "Cj4xxxH7TUEo1kp0OTggBmqL6BVTO/b1IUEn+CaUNyyxbtG4YNFiJ46GxD6s7cUabzRf9N3BvRpI/wiodyB0CtLisDoMN8zypb2w2wv+SA5OFJEE" +
  "I046esdBIY35InoTto0kK4emluJ1A3YM4c5O7LUCemkcUa1CEpz3loPGH+LdhqqEmBZuCaqgwYHnQT8FKeOQCgdowUnTjkDrupAB1XksuR+Ozte9" +
  "aw1jPqEs1yr4JYpmqyUZX6/t804FTkuA3Cw010ed/dS4jo7CwAt5ud0Vv4J/NCOH2nXixAs7mPP1o2Zf6qugFk/a60n1mcikZbGF3MbvVrpReZYg" +
  "LprHe2LPbZzswKtrODkbuszUWErrEsGaSBZPJamJzQfWNPTGyGwuywdmS9nRPi9kR4OPiiCbqCWfDIDmHUcmKi8SFhR0531vK3VY6MgtJSpuOpPz" +
  "ziV2H2njseDvWoN0MXTvQ99scphOmpPJhCiEOUugpJOaTxleq3itYoek75Lgd1tWuMkSYTeP5HBpQ3TihoU2VtkLab2QdgDmfVgWrS6T7HFc+Gbk" +
  "u0m7tG+HxqKQJ3bWSW4s24xl+e+b3vOyM/9FFDqKxwrIjb5FJNNOa49Z1xF1gm2dhq/TBjLsxFvT4NBD2QGZ3yb5qLgAtk1QaoeZIzrzg4wF8sga" +
  "fKEpx97tOIQsuC4aoN4IJq6rgzTzW6l4GG1M0SqRzwTNLqVHty32UB8NtIgtS8R/kxQ0kHEFW6qBjQZyHE01z/m+Ynqh8q7g8+Z60oD8bcQs/tu5" +
  "3S7SDf29tG+abqrQpJU/yiSFN/U9NyuKfK1UJmTBSD5TytFwEYo7IPO+UNQHSSj666Sv86sgWicUpggz1VDdDysl7LXhUnbYB5Wi9EphMMsjcQbs" +
  "A6zWBz2YZmQ6iayQJeSyoGym5TaHcOgSJK+DZZQe2zn/BCKXs09GF8j2Im5YxtwAGCpIzkO2LaozsvVOUg/lfbCrZ+eO01l8Oiv4fauRbCuJbZuM" +
  "welI8Lkm/NqOXVrhBVl9TDMJu5cmL60/rOkinuEkEAInYaOHzPcSRR3y+2NZC++1AbMaZFmGGDXkKWjmtzvfbot6cojjjt46XuUNhkKy3Qq3JXiz" +
  "+GTcq+MDvzT4slAZ9Z8G+wJcLF8A6ywL5+8qVNCBYqKyQ90yf8tbe0/2PPPKu7vi9EDqLxp4Z3KH9slo/jqL1gpVSs5TjjcmeFkvRO2R+AL2o5z3" +
  "/NPIsjSgmD9sRCXuq35UHkjbQ0nts5X/GlwD9RnEuECzq9nKv8flEVkeqfahbYU0R2hNFDQbsLgFSgco4OMZNZ00kRMrqU6kbgOJ1BlNM3U0L4FG" +
  "59OsURb8Z9kQydrCK9v4YAcv7OL1Bt7Q7DG4Lq7rwUt6Wj3PBgzQOQ3yGfjwuRO4d6WYjBaTqXKKpp5/4J8215hc6Uo0Gt6BZ4w/jbajnw9ksJ0u" +
  "obIJimrw+CbJvtwIsgScvySJuxoJcxbqEyZ0fZ72mc/vin+QO4IOwbqNCx34/pwCZNdBPW5pwYGLpFIDw1yiDk+uSeYjuG07m5/Av2xeht77llJQ" +
  "uHvIAO1Ml5ZkSbOG6MoYfTgnngWdGbl84fuocpSOTjHfXjjMYApx/vW+Eeyomeas8gUT1BuhwiqpJYdFo4h/KdeTIhjtgYAJNDZDO5OF7s9X1NL5" +
  "SfDxJovU0k9Np1e5yXjwqyOdo1BQA4N+6DALrOXEMwu/GOI20idptGJluZDmg9Ia8e4mbVAwSwCbDmGNxSg5VtopQ4cyFNpIu6zUP1fa04z8tWhs" +
  "CdpevNXhS1VbQuUq6i9Hu+VoBoXXUWMjbJZTXRXYnDDlBPkhrS2RbpRKY47pcRl6piURRS1D8iKuXsK5NprUBQ2bfJkJF/1utouE5kLZEJpcRl1J" +
  "MBVDetwakknYCrg/HwhPpaBkqFSyOH+Wq2arnDGEzdag3A7aH4DbrchQgzpULJjDfjdGrNL2N7N1VONmFAKjqEqGppKFGi4DJaXTeDddEu3sB00K" +
  "+MTS7VVsR2nFdMqb7RUwxwAyiiLRWqUkMIM/ejvXrTMMNfy7fR05wkn1FrnHCr2gdvIzf9l4vbWRFbzZ4QUoACDi75ZSupVON0SdYnUUOo5Aprf8" +
  "N+GwiHmbSfYC7fxotINqNnFmI3egFZzX+XIJr6sVrLyEJT4vOxC8B6hrZQS/eVtvFh+fTAcnUZsJMl4r+8NgBq0PpZFpUJhG54LpKup97fdjXihr" +
  "mPp+tdkF0X0wNsj8mjjnLNHpWekJKbtFaOyGjlyWCzuNoGmE41h0+JisD4y9JL6LTE6Q1CkyPYQr/un42myTxNZLTKN0HSUNUssE1fZDdSHTyKV5" +
  "06xgjPhtQOkAXqnEqWc13PIolofDyh6/N8crp/j4VnDWQ0MzSTehVQdaaZWm+aADM0104s9l68g2x46DwaFmvbFsbBU1j0FYtVDVwA2H862DqK2M" +
  "VHiSmMd7Xo969sHkAdLqh7cMYHIKqnaWHSBs6qUDybBhYe1lbJ0UmkEfyDzdeqtJpMhog6BY0mDksw5g3m3jF83f09+W/kTPJIxrkSIGlTlouRcM" +
  "t7IImJbB/jbJCMJ2O0k8H/fe7Ceax/2W8QiaysAaOSTGoawIZG9Fg42onDb9yd+fpheSyH7YTKZVR3BTQbLwSgJnwMEyNqNgMWX0sI2PbeHTU2g6" +
  "XZ9A2n3s4Ka2sHYbX8w8wGupkJDN5AGg2caLXjRkCeR+sFwE0etkNYn6QkcybZ/4zv/DcShtghTXQRvZryNhCWhyXtjYZs01TJ1ET2YgaREmZ0nk" +
  "BNFWQoUSa9BKI/FTs+0KCMq9JqdM3K0nW2GgxHtfdclBlkOddtiZ5+U31FbBkppu3dhvgZwsrLfivdPzMcRxTAoCRbONQoFc6G0TzK8qbw0qZSG3" +
  "54dJzdVQ/CMF2BPZXgLjDoPpYjClVZ0wtiH0Z9HVLw6HSEo3yX6gPxDJJ2BnHFLLoPFlwycS7qAbLrjjoj7w74MAGOuDVyRXUvpBPQB3lveDZhCW" +
  "B8A0CPmDUDkI1imSsUsaPzC1QF4dxPyxZRgihqEjDsrjoPvOQ180PAySsb/VfHCu8MuWr6ou1F+YH4HUUbhw5pL1niEL8Vkn44+PPT46DjhsEgTr" +
  "q4svr7ycZUA901A1BZHTcPi9RW8UPQ3Xx0yD7j5ZCZy5UY88dmbhftk8XE2ah4F5aJiHogVoeSrty8R13rOCl5x6bcoVZ/0otALCN0HS77Hk4fZk" +
  "qD/qeGfgTf2jb+05wLwFdVfsV9yn7164O20LQm82xSA3Lngb2v5VrgOhahtGtqF5Gza2YTkNdOnw5AT474J+D/4tEy48l7APbQege6aqCHb/kvTM" +
  "2K+9g6EpGPyOYfsYnrznvufvz/NEC56Im4BOL7QrQ4899mXuw1sP+vuim/X+KBWefjIScs3UWUFvNMBjJlcFevglvygUctXeAznRSHZefQR1E7Av" +
  "Ng3D3gTsTsKmGulj0Z1iD0kAd8ZD3Aapt+XVoblqFHtuMRVFatEfbw8C15t/JQicRxDI4IX2THT9SA9q/5ccH2TwQRdvzshGPdno6QW0BDt6pClA" +
  "38YVoN1/7H1qKEZRxeiwBF0clqPxy8pXU8eguhQVlKFBbxQpQ2cb41FHPLpy9opkugxlG1B7OTIbUToX4w0tMrjPAHe6BVehuSo0qeLSw+jmviRB" +
  "pJQMpyBFPHrJ7YvAWzzPBPz0Tcn1Ht23B91xIx0Phf0wSJZL6k91cYGLfFce5C1DXw7OK8SyTQjdQoZy4gUWUD5mO8KGdxNn+LMzXNYITg05M17g" +
  "NjiMTSPYC+679Z6sPNySh9P68W4/fv6iHCng8mwYLmmCiN+Y1fyZcM6BbLCF0uzY0IonbTjVjm94Ll+HTTp87kLCAtlYIHca4Pq8XRxuhZVyXoe+" +
  "WUzgV9J5K+pxdU/QEYUSZuLxoUjB3dfkFgRfGE75r2PdOvaCgxLse+vEGC4fwLXNsJBHy8RPTvAh4kpOq8Y9avxbuXjcByvkOHSFH1nhc1r4kFZ+" +
  "vYlfcU+08S5fvDFVAdUmONOEHh9CM6ICaIN3HKdP0GA70d+wBtutTBuB1Gg6hDhGia2eKPbxPpcwiU9UfEoWLvpJ5KlEG5lYhcXfpiigAwWMQEMP" +
  "ihgjHW6WASpLQ/0J6BGtxCGxwtgNO2FovQ2ftOPpAhweQboDqEzOAs7ruLgSOmCihUUss5Q5DsDyXKvSw5JJGwf4iRO6bqX75biLKxHFjJO1SRK6" +
  "D2nN2KuHWrjYJFQ1KdHJiXGHTkhn3u3woV6uCS+YLvd20cgD+rz9NecMqd1GapkwJ4MMGQQaWKSBuVvcQx+sfGg1kfV+kHpIh5tI0zgNtjG1Qlps" +
  "hDLuEJb3YTSaTLxd6qq20uS/7uVRg5Xk/3I9lNRMkjAY1TCDkXk7SHwPac9F0+W82ol17xWqoD4CtDPsZI6tcMXHsNzI7weRmAE6fKHl4Bqt9szR" +
  "uQ4DLVOAdpJFLtGKJhyc+t37snFQMLcg6x7J5oyCRjgeoB1D1L+UHvWw0VhRthPVjZOlcTJvon3BEJlPMswkpJrEtQmR5UJoGFcRy0/V0jbRaDkb" +
  "GiMRVhyfSGPDhcxooXOE9jwTHknXu1ixL0wZ6FEWkrtu9ggD/YLEz5M6THxqHSo9IivHJEcLeTukJRmmjkl+JJei4eO5KU+sWUE+RdxmKp5ZIREN" +
  "sLdPeiX6SEj/rKET1uSw1ieoWG0lCzdSNfLxFVZf6esmnRskfoc60pCtmMv3w45frA3Q6De8R4TxH2+ECPtvDv/snExU5t6/BqsxxN8tOpZl1LCe" +
  "ZqF8SsieZsuVQtMCC10gqjxoqwBdBo0RD/82tA/JvygqR74BQp9RGLx7WCfE+6CWOlqRJ5j0NCKE6pnvq+lDtOGu8SDWlAMlM8wOn8b6ciO+3Ke/" +
  "7oMB7oUy8CyTVhqlcvfxHWHg/YlIIc7KNH+pH6GB0dKlaGlojDQ8Rlopjkfl9UJqg+B00G1v1iYq7WUnvey3/i3SthZpRizaWsLen/r93bAvyEUf" +
  "Cdtis+sGXC2CJmjh1O4y2DtkRV7CK8d2aX0KUpewSYtgsgrDPVKZP3L0stFxqZcTVzgkB3PgmIOVLn61iy9ZwhFRbGUGOh9qlAb/LfDdsAFpwlM2" +
  "uTRoBC3p+LEkLuzya6VPJDzrlyr0TAgVs3D0loXfy2JtZqanhXlsZBRXefG1jVAWSHMf8EylcaKWbhyAolqw70OmGDaexNYOaVQP051IS+ukTbed" +
  "6tNC4jGxRbLoEJrUhzNmIF5Bak9P6cDWi0M+DHzM+FpkDKxGQ59Y/e9pTsgthjFXbRFocqBFUorTsmEjCKoCYfBUyCJOmCJrnnCH1+NTa2yxUBri" +
  "BL+v/2oTlXGJQzgbAsvwhp1qA9DAZ56frZolKXLYiwf9Is4vw8ldUBiAHOOQ977XN1sl4AsBkPVgSR9JMfEyO1+4RXY+Cpsinuu45XQqd226HELe" +
  "MC2QwiYacFf8BSfIxCnnW9ybCvksPSkoB3k7Wc6lu/EQFkXzG5ijhuz2o5hVSF4D24MtNFBOu7z4lBPJQjYeSuMOxkQaSNvk9zNwRg9ZSGZr1RBX" +
  "zU2aSP0Kcg6DLIUMqujQITX0oqRSUZ1beymW9bDlKM6lrAZ5m1DDCd/3Q/mXyxXortg/5UZB0y+i3tr5aIK3vJ3/8Vwlc5bQzCbqrSN1ZWDGfQGs" +
  "vA65tFaQ9Aw6acEbOYLNJrWbUKoPnvHjspqk8UFsKRp53emzykpm8H4XHF9Kq4XpNrL2jk5BojifUFbZh/a2IP/5rRvHHm46wHEGPumDoDa8188v" +
  "xLLgWKH9jcOXEyNQ3h7UvFlTJoxGsQYbKtCCcxcqtSAzk4JnXLJKqXoD+yzjfRut70RavXR7n3kvC6ZBmKmDZh+o/7I0CMUf48Jl7HXToVkotcHY" +
  "A6tZdFfNb58gTyVMboPL7ApOLSbevmRpBuI1fNKRZPGBwRfrv53cA92XO3/WcJFjMP5V2df9/5z4Z/+XSkj8ptATNF/Fsz1JfTFuSMet6Sj5+sB7" +
  "yoyo2YhG3Iufj34hV5py3nJrmbAyC/VnE34yuwTRQUjtGugap0LKB/Zv1L40kYQ2uGALCspA3kVQ/GaNCtr8cNqOpDUeubQcQsc1jde4XBu0TfNz" +
  "BHsaK1Syzd8crkDG3xefXpPjwVrecsvUMWn4ysVwr6+dhITDbAnqOcA5Wl4pdVnXw8r9aW9qbig9k3tP60P1n8r6+M1GXH/ma0/3jiXwG0XxWijU" +
  "gou5B3pioOuBONaJg1DQqRH6y4hiKLnNpfihyr9X3+SSr4OeamnaGDNcdTl+Yhc0j5Q+epwLuzIhq4dqoO5ZexXZrCbN4uF7Dj+tfj69g83n0Hw7" +
  "hP017ZdjRUJVpjB04jGf49H9biLa/0Pvv425bb+RvItjVGRRDS2p0BmCXJStJLIPuQQHU9Mi71IRSnpemgiDIfec2y3fL37W5f4Oj6h3lkIgUVoc" +
  "zRkc0BsLkTXg+DgxiXh6sqyXdI2ocAtcKu5IvmNNNAjZaDoZghJg/YFoL5pSSyql4w0QkAB9BqF9jZr3qUv1tjBUQDzDcEY0BAUixbQkx0RcikbB" +
  "RelRoKSeSjp42nGdaw4fevE262+2LsT9Nfctezvtbae9l9Pvrbq96VeKfbJpp0cztD2OPh14nfLs4Wm7e7c4/19nT1kfaTSiwxZYCAGXA+r90ugN" +
  "Ye8mT+DuHBIzDGWtoL26wUWFQ2on9F512f5yP48Zp1jrE70vWW8IfXXMmyX7wcnrjT4wuAaB1wfEiFpzIFXS38YGwpk1GfJbkaoXCuK59T/3p7HD" +
  "l4eS2F4I6UYBIaR3X+D+z4i//U959j9VLP+f8rAQPILgilVy56V48bdvaiDzzIp7mXu7EdSVsAQGuDn97ACa+ZmdO/mz7Hxcv6jy1Fo5cLXAlaKS" +
  "L/O/5Lgl7qTcVew57qq8hft/zgXuv4PmIviP9Y5L/0XhT378v90q+McfuNxHD01k2o4nGnCoEU/eb17+bqzvKke5A+T/9h9YY79EbOROpxS5lj5+" +
  "dvthrvyUu5jjxGJOoJwgdhOLBSwW3MWcmHJU4uLiUl0Ab58lV+tEpZAOJ6JHFTtuJZGn+u0SZbOkZQ42F3CeP9qugy0/6P/A0cSs3qh6kOpj+cEh" +
  "vmTuu0u4frVRyFTTNS8UESdK13LDk6g4iMh7SGMXsWyxsvv9VGjqNxVR0N1FsltwcQg2hOCP+jt4ZQ9f14qVKPijzI8q41GnD5dehOKjiDECtTbj" +
  "TCWNUNLsRXz4Qt7n0Uqo+6apEMb/5L2Hd/WwsidpGYLWbIr3c1FvLsLixRfWXkiforNT9I0acZa4ph4S3hsrI9OjZPz+K5cdUAFfPn19sg6Gbqmz" +
  "w1AzBEXQuHFWNCZk9QrJb7fVkv5+KBiEzUJ6c+UkznPyZZk4qgJv3x31bLUvVJw17JGoCLxTDNE/pWvNwmCzwOn9yCEM7vFpYRA2LOwMCWfdHN9G" +
  "h9DCcabogNJv3ZV/8vx86bZGNvxnu4WMjuLofBr6q8FZIpvEDRO45cO4DwYeV54ffrNliFXtorxxHMddcv6wrZKMf7+zjhRVkbENriGQS7GS4ovy" +
  "Cx3fpvzzSQPoAkh9PLQv0fpD6rNDZBn4YAHn/vwwjzTriUf1Y2KrP3j6Qa43UgUjOX+TyNEh+PZIB9aJahmbM+lqNzEx1Vsp3qDpE/I72cQ6TlvH" +
  "qRs4sQIOcmhiGy1spfGgCoKTIDhVM4O9Z7CS35NqMqT5h6jRiKf30FEQhPzMVg+5o9CUiIvXcYrHiQ+JtfF7ORDQiuecqAvF9SDfPWzdwypY6EOL" +
  "nmwtC6eJyx1Y3cGKW1koHASBoolNV9DRIIgPhsR3tG/Hd7HYTJSQSNWrpEpBg47J4jievbvlJt0dMXfoDljEvFB0sW0Wj8bg6Gszp3DBMbS2o+k0" +
  "nAOxDy799MSJJ5149w9bf0j1JgojqjKx/l93PGsHbEAjXuTrVh8ivF4pJ90KYhI1RUBCNsq0sPUU6BH1H/IpmUhNBpRguC/rXolcTTvHYHAaj3oU" +
  "Pdp+V3gIaZ/BfVx8lKCKEsSlajCoQX6rSQ9x3bDgj9OH3JZ3ziRfUWcRz3Ycr2PrKrQeRooiSFwEKZmAqUGyZ2LxbbAyRBOyhEm3PC+Y6mLNTRBv" +
  "Q0lZSNvJh1kk0Qmi9XQh8/qZepzhJHYh7nt6Odiria8BTy5DpRLwjYmp9JzSAqNRzDcETm5TnvMKgLoAsI9ck5EuSilhsT+zduCEcGw8qwml+a/H" +
  "xJLIdMHrSuyoUJEC8TX0GFWkEIdITtNcNTt82j7f14lLO/FGDqnNInNqGmpmlgzwhNwqPCL0t+DtSwMHuK6f30jGqb/ba6DuuVWQNY8y08GWDivZ" +
  "EH67bpmcrlDRe8+bc4gqm0QHU9UeLXlvMxxSR4jKjt38rrO0k/YyYtYTbj6P1OQSrjiX9CThuCR8kktncykXPoYXnlO0of52FC2HuBUyU4fTKvm6" +
  "RijZJAE3LJtYognCykhDDfE43bdAaipQjlYYDgBHIIxcNxACOxnQpCfbs+AbyXT5JC6LvJQpE/rlwjiKLCYxRQTF6WGS312ne4t0IB+WXLtkQly8" +
  "dDsGrLBaBh1JpNmLT2uCrrdqCsjoi41D+KiQNBeQbiMc5YGez9QICb3S5AoI2uP9k7H+zm+LNnD+NG7JJ83DUP9yvh+1fOyIo5uVpKyZVDeTMsic" +
  "wC1hUKOE1UOqfmXwZYWVrE7RjSnaRjsuXLd6b0M0C7oupIaM2iQrA3z7/T4ROP/1kXC2D5GQ5cU+qRGFod0FsnXzUBkca6kskw7usOz3Za6pr85p" +
  "2LSDeVWT8nQylkOWo8jBZeez270kzYv0TkHyJKQbyXIFMUXhlrzvsqLMiPpVcF9cA7Q0wL5CWGyX2u3QZCOTVnJUS5RcuUgFn0e7VlfStUrK3W3y" +
  "Bq2NvvPCM9HgwXmUmqGcV7fBQxYLibGS+w9+J3/tV9oXwjU0p4Gk+4G5EmfZyEgz0Zw93T5BRuZZ7zJLFS/4waAf+P15Zhmq/MDkA8oAkhdCb10Y" +
  "JqvetOA2sU87jNXT1SQycT4AdyBuo4uEeSKnU9A7hfIuhi3oqeRJfmEXNQ5QL1RUSnay4bAZvENpRSXMNLEXR8Cvnzysvavehw72kUgb368hAb2Q" +
  "2oFjO7BugfUuMBvokOLh2If3tkC5DYdf+6dD7p2jOeDwYYO3lNyS64NUNcJhrdDYwuWEYK9wvBWGn3p/d5bFdXLz+zi7SWhdpuufu/6UZs4TZw1L" +
  "LGf+o2RSJBNfjoeXnhY9Rk9KaGMJNV9eTUdFdYLroJ2633opfYoe5NDdfFLD1baAU4OF+1OemiqhoUskcwUfLOElG3NvbeRiD/lLQyu8YRBC5bTp" +
  "kfuu1322+unMJlFtERP4orJtmqGm8+fb/Fl7FrQuQE4h3n7Y+e3RY/pDsnVADL7sQMGG4PjyfgBz2oXKZQgZYZvD7H8B"

/** Reads a number of seven bits per byte, the lowest first. */
const readNumber = (bytes: Uint8Array, at: { offset: number }): number => {
  let value = 0
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at.offset++] ?? 0
    value |= (byte & 0x7f) << shift
    if (byte < 0x80) return value
  }
}

/** Writes the code points into the table of Big5; 0 for pointers without one. */
export const addHongKong = (big5: Uint32Array): void => {
  const bytes = inflateRawSync(Buffer.from(deflated, "base64"))
  const at = { offset: 0 }
  let codePoint = 0
  for (const [start, end] of ranges) {
    for (let pointer = start; pointer < end; pointer++) {
      const number = readNumber(bytes, at)
      if (number > 0) codePoint += (number - 1) % 2 === 0 ? (number - 1) / 2 : -number / 2
      big5[pointer] = number === 0 ? 0 : codePoint
    }
  }
}
