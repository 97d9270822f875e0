# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Texts that are code where a page takes them for markup: names of topics, files and messages."""

OUTSIDE = 'http://203.0.113.9'  # an address of nobody, RFC 5737
TEXTS = (
    '<script>top.hacked=1</script>',
    f'<script async src={OUTSIDE}/evil.js></script>',
    "<iframe srcdoc='<script>top.hacked=1</script>'></iframe>",
    f'<img src={OUTSIDE}/x onerror=top.hacked=1>',
    '<svg onload="top.hacked=1"></svg>',
    f'![]({OUTSIDE}/y)',
    '[press](javascript:top.hacked=1)',
    f'{OUTSIDE}/page www.evil.example me@evil.example',
    '</script></td></style><script>top.hacked=1</script>',
    '" onmouseover="top.hacked=1" x="',
    "' onfocus='top.hacked=1' autofocus='",
    '{{7*7}} {x} `x` $x^2$ \\(x\\)',
    '**a** | b | [c] <!-- d',
    'a --> ]]> &lt;script&gt; &#60;script&#62;',
)
