"""Holds the rules between rooms (docs/architecture.md, section 3) against the #include lines of the sources."""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
CUDA = re.compile(r'^(cuda|cublas|cusparse|cupti|nvperf|nvml|mma\.h|cooperative_groups)')

# (files, what they may not include, why); FOLDER is the name of the file's own folder
RULES = [
    (r'^profiler/', r'^apps/', 'the library never includes from apps'),
    (r'^(profiler|apps)/(?!backend/cuda/|backend/simt/shadow/)', CUDA.pattern, 'CUDA headers belong to backend/cuda'),
    (r'^profiler/(roofline|report|compare|experiment)/', r'^profiler/backend/', 'these rooms know no backend'),
    (r'^kernels/.*/.*\.(cu|h)$',
     r'^(?!kernels/(variant|cublas|ptx|FOLDER/\w+)\.h$|cuda|cublas|cusparse|mma\.h$|cooperative_groups)',
     'kernel files include only kernels/variant.h (and kernels/cublas.h, kernels/ptx.h, headers of their own folder) '
     'and CUDA headers'),
    (r'^profiler/(?!registry/)', r'^kernels/(?!problem\.h$|variant\.h$)', 'the library names no kernel'),
]


def main():
    files = [path for folder in ('apps', 'kernels', 'profiler') for path in (ROOT / folder).rglob('*')
             if path.suffix in ('.h', '.cpp', '.cu')]
    if len(files) < 50:
        sys.exit(f'only {len(files)} sources below {ROOT}: the check looks at the wrong place')
    broken = []
    for path in sorted(files):
        name = path.relative_to(ROOT).as_posix()
        for included in INCLUDE.findall(path.read_text(encoding='utf-8')):
            broken += [f'{name} includes {included}: {why}' for where, what, why in RULES
                       if re.search(where, name) and re.search(what.replace('FOLDER', path.parent.name), included)]
    print('\n'.join(broken) or f'{len(files)} sources keep the rules between rooms')
    return bool(broken)


if __name__ == '__main__':
    sys.exit(main())
